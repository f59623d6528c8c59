"""What the cache holds, for people: read without counting as a hit, and without the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from tools.guards.redis import RedisLink, load_script

_LIST: Final = load_script("cache_list")


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry. `bytes` is the size of its value."""

    space: str
    key: str
    created_at: datetime
    expires_at: datetime
    hits: int
    bytes: int

    @property
    def tool(self) -> str:
        """The tool whose result it is: keys begin with its name."""
        return self.key.partition(":")[0]


async def list_entries(
    link: RedisLink, space: str, most: int, key_prefix: str = ""
) -> list[Listed]:
    """The entries of a space whose key begins with `key_prefix`, the newest first.

    Raises:
        RedisDown: while Redis is away.
    """
    order, entries = f"cp:cache:{space}:order", f"cp:cache:{space}:entry:"
    if key_prefix:
        digests = await link.script(_LIST, [order], entries, key_prefix, most)
    else:
        digests = await link.command("ZREVRANGE", order, 0, most - 1)
    found: list[Listed] = []
    for digest in digests:
        entry = entries + digest
        values = await link.command("HMGET", entry, "key", "created", "expires", "hits")
        size = await link.command("HSTRLEN", entry, "value")
        if values[0] is not None:
            found.append(_listed(space, values, size))
    return found


def _listed(space: str, values: Sequence[Any], size: int) -> Listed:
    key, created, expires, hits = values
    return Listed(space, key, _moment(created), _moment(expires), int(hits), int(size))


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
