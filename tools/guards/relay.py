"""Hands a message to another process of the service, over Redis.

A client's stream hangs on one process while its next request may land on another; that one hands
the message over here. Each process listens under an address of its own.

Redis down: nothing can be handed over. `send` answers False, `whereabouts` None; what belongs to
this process is served without asking Redis.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Final

import redis.asyncio as redis
from redis.exceptions import RedisError

from tools.guards.redis import RedisDown, RedisLink, disconnect

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.5
EVERYBODY: Final = "everybody"
KNOWN_SECONDS: Final = 60

Handler = Callable[[str, str], Awaitable[None]]


class Relay:
    """This process's letter box, and the way to those of others."""

    def __init__(self, link: RedisLink, url: str) -> None:
        self._link = link
        self._url = url
        self.address = secrets.token_hex(8)
        # What was announced; a Redis that was started anew is told again.
        self._announced: dict[str, str] = {}
        # What is done with messages, by their kind.
        self.handlers: dict[str, Handler] = {}
        # An outage is logged when it begins, not at every try.
        self._away = False

    async def run(self) -> None:
        """Take messages in until cancelled."""
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as fault:
                if not self._away:
                    logger.warning(
                        "Messages from other processes do not arrive: %s", type(fault).__name__
                    )
                self._away = True
            except Exception:
                # The listening must outlive any single fault, or nothing is handed over any more.
                logger.exception("Listening to other processes failed on a bug")
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self) -> None:
        # A connection that died unseen is found out by the system; a socket file has no such death.
        options: dict[str, Any] = {} if self._url.startswith("unix") else {"socket_keepalive": True}
        client = redis.Redis.from_url(self._url, decode_responses=True, **options)
        try:
            async with client.pubsub(ignore_subscribe_messages=True) as subscription:
                await subscription.subscribe(_channel(self.address), _channel(EVERYBODY))
                self._away = False
                for topic in list(self._announced):
                    await self._tell(topic)
                async for message in subscription.listen():
                    await self._deliver(message["data"])
        finally:
            await disconnect(client)

    async def _deliver(self, data: str) -> None:
        try:
            kind, topic, body = json.loads(data)
            handler = self.handlers.get(kind)
            if handler is not None:
                await handler(topic, body)
        except Exception:
            # One message that cannot be handled must not end the listening.
            logger.exception("A message handed over was lost")

    async def send(self, address: str, kind: str, topic: str, body: str) -> bool:
        """Hand `body` to the process at `address`. False when it is not there to take it."""
        letter = json.dumps([kind, topic, body])
        try:
            return int(await self._link.command("PUBLISH", _channel(address), letter)) > 0
        except RedisDown:
            return False

    async def broadcast(self, kind: str, body: str) -> None:
        """Hand `body` to every process, this one included."""
        await self.send(EVERYBODY, kind, "", body)

    async def announce(self, topic: str, facts: dict[str, Any]) -> None:
        """Let other processes find `topic` here; to be repeated before KNOWN_SECONDS are over."""
        self._announced[topic] = json.dumps({**facts, "address": self.address})
        await self._tell(topic)

    async def _tell(self, topic: str) -> None:
        record = self._announced.get(topic)
        if record is None:
            return
        try:
            await self._link.command("SET", _key(topic), record, "EX", KNOWN_SECONDS)
        except RedisDown:
            logger.debug("Nobody else can find %s: Redis is away", topic)

    async def whereabouts(self, topic: str) -> dict[str, Any] | None:
        """Where `topic` is and what was said about it; None when nobody has it."""
        try:
            record = await self._link.command("GET", _key(topic))
        except RedisDown:
            return None
        found: dict[str, Any] | None = json.loads(record) if record else None
        return found

    async def forget(self, topic: str) -> None:
        self._announced.pop(topic, None)
        try:
            await self._link.command("DEL", _key(topic))
        except RedisDown:
            logger.debug("%s is forgotten when its record expires", topic)


def _channel(address: str) -> str:
    return f"cp:relay:{address}"


def _key(topic: str) -> str:
    return f"cp:relay:topic:{topic}"
