"""The cache of results, as operators see and empty it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tools.context.redact import redact
from tools.contracts import ToolSource
from tools.guards.cache import CacheStats, ResultCache, last_space, params_of
from tools.guards.cache_listing import Listed, list_entries
from tools.guards.redis import RedisDown, RedisLink
from tools.models import ApiService, Tool
from tools.models.audit import Action
from tools.services.audit.recording import record_action
from tools.services.over_redis import over_redis

MOST_LISTED: Final = 200
# Much may be listed; a server that hangs is given up sooner, by the link itself.
LOOK_SECONDS: Final = 5.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CacheStatus:
    """What the cache of each source of tools holds, and the newest entries of all of them."""

    totals: dict[str, CacheStats]
    entries: list[Listed]


def cache_status(most: int = MOST_LISTED, tool: str = "") -> CacheStatus | None:
    """The state of the cache, with entries of all tools or of one; None while Redis cannot be asked."""
    return _asked(lambda link: _status(link, most, tool), LOOK_SECONDS)


def arguments_of(entry: Listed) -> Any:
    """The arguments of the call whose result it is, without secrets, as the request log has them."""
    return redact(params_of(entry.key))


def purge_tools(names: Iterable[str]) -> int | None:
    """Forget the results of these tools, last answers included; how many entries there were."""
    wanted = sorted(set(names))
    return _told(_asked(lambda link: _purge(link, wanted)), ", ".join(wanted))


def purge_service(service: ApiService) -> int | None:
    """Forget the results of all tools of an HTTP API."""
    names = Tool.objects.filter(api_operation__service=service).values_list("name", flat=True)
    wanted = sorted(set(names))
    return _told(_asked(lambda link: _purge(link, wanted)), f"all tools of {service}")


def purge_all() -> int | None:
    """Forget every result."""
    return _told(_asked(lambda link: _purge(link, None)), "all tools")


def _told(removed: int | None, of: str) -> int | None:
    """Write down that results were forgotten, if they were."""
    if removed is not None:
        record_action(Action.PURGED, "cache", of, note=f"Results forgotten: {removed:,}.")
    return removed


def _asked(
    work: Callable[[RedisLink], Coroutine[Any, Any, _T]], limit: float | None = None
) -> _T | None:
    try:
        return over_redis(work, limit)
    except RedisDown:
        return None


async def _status(link: RedisLink, most: int, tool: str) -> CacheStatus:
    cache = ResultCache(link)
    totals = {source.value: await cache.stats(source.value) for source in ToolSource}
    prefix = f"{tool}:" if tool else ""
    listed = [
        one for source in ToolSource for one in await list_entries(link, source.value, most, prefix)
    ]
    listed.sort(key=lambda one: one.created_at, reverse=True)
    return CacheStatus(totals, listed[:most])


async def _purge(link: RedisLink, tools: list[str] | None) -> int:
    cache = ResultCache(link)
    removed = 0
    for source in ToolSource:
        for prefix in [None] if tools is None else [f"{name}:" for name in tools]:
            removed += await cache.purge(source.value, prefix)
            await cache.purge(last_space(source.value), prefix)
    return removed
