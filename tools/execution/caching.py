"""Stage 5: reuse of raw successful results, computed once for callers that ask together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tools.contracts import Deadline, ToolSpec
from tools.guards.cache import ResultCache, make_key


async def reuse_or_run(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    cache: ResultCache,
    deadline: Deadline,
    run: Callable[[], Awaitable[Any]],
) -> tuple[Any, bool | None]:
    """The result and whether it came from the cache; None for tools that are not cached."""
    if spec.cache_ttl_seconds is None:
        return await run(), None
    return await cache.fetch(
        space_of(spec),
        make_key(spec.name, arguments),
        spec.cache_ttl_seconds,
        run,
        wait_seconds=deadline.remaining(),
    )


def space_of(spec: ToolSpec) -> str:
    """The entries that are counted and evicted together: one thousand per source of tools."""
    return spec.source.value
