"""Whole results of shortened answers, kept for a while so that their caller can page through them.

A result belongs to the caller that made the call; nobody else can read it. It is packed, and sent
in parts: commands of all calls share one connection, and a large one would hold up the others.
All results together take at most `max_total_bytes` of Redis; beyond that the oldest go first.

Redis down: nothing is kept and nothing can be read. `keep` answers False and the budget then
passes the answer uncut, so nothing is lost; `read` answers None, as for a result that expired.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import uuid
from typing import Final

from redis.exceptions import RedisError

from tools.guards.parts import fetch, pack, unpack, upload
from tools.guards.redis import RedisDown, RedisLink, load_script

logger = logging.getLogger(__name__)

_PUBLISH: Final = load_script("kept_results")


class KeptResults:
    """Keeps bodies in Redis for `ttl_seconds`, each of at most `max_bytes`."""

    def __init__(
        self,
        link: RedisLink,
        *,
        ttl_seconds: int = 3600,
        max_bytes: int = 16 * 1024 * 1024,
        max_total_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self._link = link
        self._ttl_seconds = ttl_seconds
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes

    async def keep(self, request_id: str, owner: str, body: str) -> bool:
        """Keep `body` for `owner`. False when it is too large or Redis is down; never raises."""
        key = _key(request_id, owner)
        # A character takes at least a byte, so most bodies that are too large need no encoding.
        if key is None or len(body) > self._max_bytes:
            return False
        raw = body.encode("utf-8", "surrogatepass")
        if len(raw) > self._max_bytes:
            return False
        try:
            return await self._send(key, await pack(raw))
        except (RedisDown, RedisError) as fault:
            logger.warning("The result of %s is not kept: %s", request_id, fault)
            return False

    async def read(self, request_id: str, owner: str) -> str | None:
        """The body kept for `owner`. None when there is none, or no more, or Redis is down."""
        key = _key(request_id, owner)
        if key is None:
            return None
        try:
            packed = await fetch(self._link, key)
        except (RedisDown, RedisError) as fault:
            logger.warning("The result of %s cannot be read: %s", request_id, fault)
            return None
        if not packed:
            return None
        try:
            return await unpack(packed)
        except ValueError:
            # Replaced by a later call with the same id while it was being read.
            logger.warning("The result of %s changed while it was read", request_id)
            return None

    async def _send(self, key: str, packed: bytes) -> bool:
        uploaded = f"{key}:{secrets.token_hex(8)}"
        await upload(self._link, uploaded, packed)
        keys = [uploaded, key, "cp:result:index", "cp:result:sizes"]
        published = await self._link.script(
            _PUBLISH, keys, self._ttl_seconds, len(packed), self._max_total_bytes
        )
        return bool(published)


def _key(request_id: str, owner: str) -> str | None:
    try:
        identifier = uuid.UUID(request_id)
    except ValueError:
        return None
    digest = hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()
    return f"cp:result:{identifier}:{digest[:32]}"
