"""Slots: at most so many calls of one kind at a time, over all processes.

A slot is a lease in Redis. The holder's process renews its leases three times per lease, all in
one batch; the slot of a holder that was killed is free again when its lease runs out. A lease that
Redis lost is added again by the next renewal, because the work goes on.

Who finds no slot waits in one queue per name, in order of arrival over all processes. Giving a
slot back puts the first waiter's token on the wake list of that waiter's process, which reads it
with BLPOP on a connection of its own: a waiter starts about a round trip after the slot came free,
and waiting costs Redis next to nothing, where polling would cost one or the other. A list keeps a
wake-up that comes while the reader reconnects. Beside that, each waiter asks again every
`ASK_EVERY` seconds; this shows that it is alive and covers lost wake-ups and leases that ran out.
A waiter silent for `PATIENCE` seconds loses its place, so a dead one holds up the queue no longer.

Redis down: each process counts what it holds itself, taken before or during the outage, against
the same limit, and queues its own waiters. When Redis is back, a process first reports what it took
and gave back meanwhile, with its next request and within `COOL_DOWN` seconds.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from redis.exceptions import RedisError

from tools.guards.redis import COOL_DOWN, RedisDown, RedisLink, connect, load_script

logger = logging.getLogger(__name__)

ASK_EVERY: Final = 0.25
PATIENCE: Final = 1.5
LISTEN_SECONDS: Final = 5
RETRY_AFTER: Final = 1.0
_WAKE_PREFIX: Final = "cp:slots:wake:"
_ACQUIRE: Final = load_script("slots_acquire")
_LEAVE: Final = load_script("slots_leave")
_RENEW: Final = load_script("slots_renew")
_USAGE: Final = load_script("slots_usage")


class SlotsFull(Exception):
    """No slot came free while the caller was willing to wait."""

    def __init__(self, name: str, retry_after: float = RETRY_AFTER) -> None:
        super().__init__(f"every slot of {name} is taken")
        self.retry_after = retry_after


@dataclass(slots=True)
class _Waiter:
    name: str
    woken: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class _Owed:
    name: str
    limit: int
    until: float


class Slots:
    """The slots this process holds and waits for."""

    def __init__(self, link: RedisLink, *, lease_seconds: float = 10.0) -> None:
        self._link = link
        self._lease = lease_seconds
        self._identity = secrets.token_hex(8)
        self._numbers = itertools.count()
        self._held: dict[str, str] = {}
        # Given back while Redis was down, with the time at which their lease is over anyway.
        self._owed: dict[str, _Owed] = {}
        # Whether Redis may not know all of that.
        self._unreported = False
        self._waiters: dict[str, _Waiter] = {}
        self._renewal: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, name: str, limit: int, wait_seconds: float) -> AsyncIterator[None]:
        """Hold one of `limit` slots for the body, waiting at most `wait_seconds` for it.

        A changed limit holds for whoever asks from then on; slots already held stay held.

        Raises:
            SlotsFull: when none came free in that time.
            ValueError: for a limit below 1.
        """
        if limit < 1:
            raise ValueError("a limit is at least one slot")
        token = f"{self._identity}:{next(self._numbers)}"
        try:
            await self._acquire(name, token, limit, wait_seconds)
            yield
        finally:
            await self._leave(name, token, limit)

    async def usage(self, name: str) -> int:
        """How many slots are taken: by all processes, or by this one while Redis is down."""
        try:
            return int(await self._link.script(_USAGE, _keys(name)[:1]))
        except RedisDown:
            return self._held_here(name)

    async def waiting(self, name: str) -> int:
        """How many wait for a slot: in all processes; not known while Redis is down, and then 0."""
        try:
            return int(await self._link.script(_USAGE, _keys(name)[2:]))
        except RedisDown:
            return 0

    async def close(self) -> None:
        """Stop renewing and listening. Slots still held run out with their lease."""
        tasks = [task for task in (self._renewal, self._listener) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _acquire(self, name: str, token: str, limit: int, wait_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_seconds
        # Known before it stands in the queue, so that no wake-up finds nobody.
        waiter = self._waiters[token] = _Waiter(name)
        while True:
            waiter.woken.clear()
            remaining = deadline - loop.time()
            if await self._try(name, token, limit, PATIENCE if remaining > 0 else 0):
                return
            if remaining <= 0:
                raise SlotsFull(name)
            self._keep_listening()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(remaining, ASK_EVERY)):
                    await waiter.woken.wait()

    async def _try(self, name: str, token: str, limit: int, patience: float) -> bool:
        if self._unreported:
            # In the same batch or an earlier one: if this fails, so does the request below.
            self._report()
        try:
            granted = await self._link.script(
                _ACQUIRE, _keys(name), token, limit, self._lease, patience
            )
        except RedisDown:
            self._unreported = True
            granted = self._is_free_here(name, token, limit)
        if granted:
            del self._waiters[token]
            self._held[token] = name
            self._keep_renewing()
        return bool(granted)

    async def _leave(self, name: str, token: str, limit: int) -> None:
        self._held.pop(token, None)
        self._waiters.pop(token, None)
        # Submitted before the first suspension and sent whatever becomes of this task: a
        # cancelled holder gives its slot back too, also one granted after the cancellation.
        try:
            await self._link.script(_LEAVE, _keys(name), token, limit, _WAKE_PREFIX)
        except RedisDown:
            until = asyncio.get_running_loop().time() + self._lease
            self._owed[token] = _Owed(name, limit, until)
            self._unreported = True
            self._keep_renewing()
            first = next((w for w in self._waiters.values() if w.name == name), None)
            if first is not None:
                first.woken.set()

    def _held_here(self, name: str) -> int:
        return sum(1 for held in self._held.values() if held == name)

    def _is_free_here(self, name: str, token: str, limit: int) -> bool:
        before = itertools.takewhile(lambda item: item[0] != token, self._waiters.items())
        ahead = sum(1 for _, waiter in before if waiter.name == name)
        return limit - self._held_here(name) > ahead

    def _keep_renewing(self) -> None:
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        while self._held or self._owed:
            await asyncio.sleep(COOL_DOWN if self._unreported else self._lease / 3)
            replies = await asyncio.gather(*self._report(), return_exceptions=True)
            if any(isinstance(reply, RedisDown) for reply in replies):
                self._unreported = True
            for reply in replies:
                if isinstance(reply, RedisError):
                    logger.error("A lease could not be renewed: %s", reply)

    def _report(self) -> list[asyncio.Future[Any]]:
        """Renew what is held, give back what is owed.

        Without a pause between looking and submitting: a slot given back in it would be taken again.
        """
        self._unreported = False
        now = asyncio.get_running_loop().time()
        self._owed = {token: owed for token, owed in self._owed.items() if owed.until > now}
        tokens: dict[str, list[str]] = {}
        for token, name in self._held.items():
            tokens.setdefault(name, []).append(token)
        replies = [
            self._link.submit_script(_RENEW, _keys(name)[:1], self._lease, *mine)
            for name, mine in tokens.items()
        ]
        for token, owed in self._owed.items():
            reply = self._link.submit_script(
                _LEAVE, _keys(owed.name), token, owed.limit, _WAKE_PREFIX
            )
            reply.add_done_callback(partial(self._strike_off, token))
            replies.append(reply)
        return replies

    def _strike_off(self, token: str, reply: asyncio.Future[Any]) -> None:
        if not reply.cancelled() and reply.exception() is None:
            self._owed.pop(token, None)

    def _keep_listening(self) -> None:
        if self._link.available and (self._listener is None or self._listener.done()):
            self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Wake the waiters that those who give slots back name, until nobody has waited for long."""
        client = connect(self._link.url, timeout=LISTEN_SECONDS + 1)
        woken: Any = None
        try:
            while woken or self._waiters:
                try:
                    woken = await client.blpop([_WAKE_PREFIX + self._identity], LISTEN_SECONDS)
                except (RedisError, OSError):
                    await asyncio.sleep(COOL_DOWN)
                    continue
                if woken and (waiter := self._waiters.get(woken[1])):
                    waiter.woken.set()
        finally:
            await client.aclose()


def _keys(name: str) -> list[str]:
    return [f"cp:slots:{name}:{part}" for part in ("held", "queue", "alive")]
