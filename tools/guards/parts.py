"""Long texts in Redis: packed, and moved in parts.

Commands of all calls share one connection, and one large command would hold up the others.
"""

from __future__ import annotations

import asyncio
import base64
import zlib
from typing import Final

from tools.guards.redis import RedisLink

PART_BYTES: Final = 256 * 1024
UPLOAD_SECONDS: Final = 60
OFFLOAD_BYTES: Final = 20_000


async def pack(raw: bytes) -> bytes:
    """Compressed, as ASCII: the shared link decodes every reply as text."""
    return await asyncio.to_thread(_pack, raw) if len(raw) > OFFLOAD_BYTES else _pack(raw)


async def unpack(packed: str) -> str:
    """The text that was packed.

    Raises:
        ValueError: when `packed` is not whole.
    """
    return await asyncio.to_thread(_unpack, packed)


async def upload(link: RedisLink, key: str, packed: bytes) -> None:
    """Put `packed` into the list at `key`, which expires soon unless it is given a longer life.

    Raises:
        RedisDown: when Redis cannot be reached.
    """
    for start in range(0, len(packed), PART_BYTES):
        pushed = link.submit("RPUSH", key, packed[start : start + PART_BYTES])
        expiring = link.submit("EXPIRE", key, UPLOAD_SECONDS)
        await asyncio.gather(pushed, expiring)


async def fetch(link: RedisLink, key: str) -> str:
    """What was put at `key`; empty when there is nothing.

    Raises:
        RedisDown: when Redis cannot be reached.
    """
    parts: list[str] = []
    while part := await link.command("LRANGE", key, len(parts), len(parts)):
        parts += part
    return "".join(parts)


def _pack(raw: bytes) -> bytes:
    return base64.b64encode(zlib.compress(raw, 1))


def _unpack(packed: str) -> str:
    try:
        raw = zlib.decompress(base64.b64decode(packed, validate=True))
    except zlib.error as fault:
        raise ValueError("the packed text is not whole") from fault
    return raw.decode("utf-8", "surrogatepass")
