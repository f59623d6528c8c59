"""Where one process hears about the queries it sent: one subscription for all of them.

Workers tell how far a query is and hand in its reply on a channel of this process. Endings that a
worker could not tell itself (killed, out of time) come from Celery, under the names of the tasks,
which carry this process's name. What came while nobody listened is read again after a reconnect.
Queries that take long are looked after now and then: a worker that dies as a whole tells nobody.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from redis.exceptions import RedisError

from tools.guards.queries import Queries, Standing, channel, ending_key
from tools.guards.redis import RedisDown, RedisLink, connect

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.2
OPEN_SECONDS: Final = 2.0
LOOK_EVERY: Final = 0.5
# A claim that lapsed is given so long to come back: its process may have been held up.
LOST_SECONDS: Final = 1.0
# Somebody has to be there to take queries within this time; a worker that is started anew is.
NOBODY_SECONDS: Final = 4.0
# A query that is in no queue and at no worker for so long has been lost between the two.
LIMBO_SECONDS: Final = 3.0
# Redis may be started anew in the middle of a query, but not be away for longer.
AWAY_SECONDS: Final = 5.0


class Ending(StrEnum):
    """How a query ended without a reply."""

    LOST = "lost"
    UNTAKEN = "untaken"
    NOBODY = "nobody"
    AWAY = "away"
    LATE = "late"
    BROKEN = "broken"


@dataclass(slots=True)
class Ticket:
    """One query that is waited for. `news` has what was heard: news, a reply, or its ending."""

    query_id: str
    queue: str
    news: asyncio.Queue[Mapping[str, Any] | Ending] = field(default_factory=asyncio.Queue)
    sent_at: float | None = None
    taken: bool = False
    missing_since: float | None = None


class Replies:
    """The letter box of this process; for the event loop it is opened on."""

    def __init__(self, link: RedisLink) -> None:
        self.asker = secrets.token_hex(8)
        self.queries = Queries(link)
        self._url = link.url
        self._tickets: dict[str, Ticket] = {}
        self._subscribed = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._away_since: float | None = None

    async def open(self) -> None:
        """Listen, from now on.

        Raises:
            RedisDown: when that is not possible now.
        """
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        if self._subscribed.is_set():
            return
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._subscribed.wait()
        except TimeoutError:
            raise RedisDown("replies of workers cannot be heard now") from None

    async def close(self) -> None:
        tasks = [task for task in (self._listening, self._watching) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def expect(self, queue: str) -> Ticket:
        """A ticket for a query that is about to be sent."""
        ticket = Ticket(f"{self.asker}-{uuid.uuid4().hex}", queue)
        self._tickets[ticket.query_id] = ticket
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        return ticket

    def forget(self, ticket: Ticket) -> None:
        """Whatever comes for this query now is ignored."""
        self._tickets.pop(ticket.query_id, None)

    async def _listen(self) -> None:
        while True:
            try:
                await self._subscribe()
            except (RedisError, OSError) as fault:
                if self._subscribed.is_set():
                    logger.warning("Replies of workers do not arrive: %s", type(fault).__name__)
            except Exception:
                # The listening must outlive any single fault, or no query is ever answered again.
                logger.exception("Listening to workers failed on a bug")
            self._subscribed.clear()
            await asyncio.sleep(RETRY_SECONDS)

    async def _subscribe(self) -> None:
        client = connect(self._url, timeout=None)
        async with client, client.pubsub() as subscription:
            await subscription.psubscribe(ending_key(f"{self.asker}-*"))
            await subscription.subscribe(channel(self.asker))
            confirmed = 0
            async for message in subscription.listen():
                if message["type"] in {"message", "pmessage"}:
                    self._hear(message)
                    continue
                confirmed += 1
                if confirmed == 2:
                    self._subscribed.set()
                    await self._look(list(self._tickets.values()))

    def _hear(self, message: Mapping[str, Any]) -> None:
        try:
            news: dict[str, Any] = json.loads(message["data"])
            if message["type"] == "pmessage":
                self._ended(str(news["task_id"]), news)
            elif (ticket := self._tickets.get(news["task"])) is not None:
                ticket.taken = True
                ticket.news.put_nowait(news)
        except (KeyError, TypeError, ValueError):
            logger.exception("A worker sent what cannot be read")

    def _ended(self, query_id: str, ending: Mapping[str, Any]) -> None:
        ticket = self._tickets.get(query_id)
        if ticket is not None and (kind := _ending(ending)) is not None:
            ticket.news.put_nowait(kind)

    async def _watch(self) -> None:
        while self._tickets:
            await asyncio.sleep(LOOK_EVERY)
            since = time.monotonic() - LOOK_EVERY
            sent = [one for one in self._tickets.values() if (one.sent_at or since) < since]
            try:
                await self._look(sent)
            except Exception:
                # Looking after queries must outlive any single fault, or lost ones are waited for.
                logger.exception("Looking after queries failed on a bug")

    async def _look(self, tickets: list[Ticket]) -> None:
        """Read what these queries have come to, and end those that nobody is at any more."""
        if not tickets:
            return
        try:
            found = await self.queries.look([ticket.query_id for ticket in tickets])
            self._away_since = None
            for ticket, standing in zip(tickets, found, strict=True):
                await self._judge(ticket, standing)
        except (RedisDown, RedisError):
            self._away_since = self._away_since or time.monotonic()
            if time.monotonic() - self._away_since > AWAY_SECONDS:
                for ticket in tickets:
                    ticket.news.put_nowait(Ending.AWAY)

    async def _judge(self, ticket: Ticket, standing: Standing) -> None:
        now = time.monotonic()
        if standing.reply is not None:
            ticket.news.put_nowait(json.loads(standing.reply))
        elif standing.ending is not None:
            self._ended(ticket.query_id, json.loads(standing.ending))
        elif standing.taken:
            ticket.taken, ticket.missing_since = True, None
        elif ticket.taken:
            ticket.missing_since = ticket.missing_since or now
            if now - ticket.missing_since > LOST_SECONDS:
                ticket.news.put_nowait(Ending.LOST)
        elif ticket.sent_at is not None:
            await self._judge_untaken(ticket, now - ticket.sent_at)

    async def _judge_untaken(self, ticket: Ticket, seconds: float) -> None:
        ending: Ending | None = None
        if seconds > NOBODY_SECONDS and not await self.queries.present(ticket.queue):
            ending = Ending.NOBODY
        elif seconds > LIMBO_SECONDS and not await self.queries.waiting(ticket.queue):
            ending = Ending.UNTAKEN
        # Told to nobody who takes it in this very moment.
        if ending is not None and await self.queries.bar(ticket.query_id):
            ticket.news.put_nowait(ending)


def _ending(told: Mapping[str, Any]) -> Ending | None:
    """What Celery says about a task, as far as it ended."""
    status, result = told.get("status"), told.get("result")
    if status == "REVOKED":
        # It was not begun before its time was over.
        return Ending.LATE
    if status != "FAILURE" or not isinstance(result, Mapping):
        return None
    kind = result.get("exc_type")
    if kind in {"TimeLimitExceeded", "SoftTimeLimitExceeded"}:
        return Ending.LATE
    return Ending.LOST if kind == "WorkerLostError" else Ending.BROKEN
