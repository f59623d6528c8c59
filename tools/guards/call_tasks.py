"""Tasks: calls that were answered before they ran, and what became of them.

A task belongs to the caller that made the call; for anybody else it does not exist. It is created
waiting; a worker claims it under a lease that it renews while it works, and finishes it with its
outcome. So a task runs in one place at a time, however often its message is delivered. It never
stays open for ever: whoever reads it after its time ends it, or queues it again when its worker is
gone and running it twice does no harm. The outcome is kept for `keep_seconds` after the run.
Meanwhile a run may ask its caller for something; it goes on when everything was answered.

One caller may have `most_open` open tasks. All tasks together take at most `max_total_bytes` of
Redis: as nothing may be dropped before its time, no new ones are made beyond that.

Redis down: nothing can be created, read or finished, and `RedisDown` says so. The path then runs
the call at once, while its caller waits; a worker that has an outcome keeps trying to hand it in.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tools.guards.parts import fetch, pack, unpack, upload
from tools.guards.redis import Argument, RedisLink, load_script

# Runs cancelled by their caller stop within two beats.
BEAT_SECONDS: Final = 0.4
LEASE_SECONDS: Final = 6.0
MOST_ATTEMPTS: Final = 3
_STEP: Final = load_script("call_task")


class TaskStatus(StrEnum):
    """Life of a task, in the words of the protocol."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskEnd(StrEnum):
    """Why a task failed although nobody handed in an outcome."""

    NONE = ""
    LATE = "late"
    LOST = "lost"
    OVERDUE = "overdue"


class TooManyTasks(Exception):
    """The caller has as many open tasks as it may have."""


class NoRoom(Exception):
    """All tasks together take as much room as they may."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task as its caller may see it. Times are seconds since the epoch by Redis's clock.

    `run_again` tells the reader to queue the task once more, with that many seconds to run;
    `never_run` is the call of a task that the reader has just given up.
    """

    task_id: str
    status: TaskStatus
    created: float
    updated: float
    ttl_ms: int
    end: TaskEnd = TaskEnd.NONE
    note: str = ""
    run_again: float | None = None
    never_run: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker gets: the call to run, or how long to wait, or a call that came too late."""

    call: str | None = None
    busy_seconds: float | None = None
    never_run: str | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """An open or finished task after its cancellation; `never_run` is the call of a waiting one."""

    never_run: str | None = None


class Workers:
    """How a task gets to the workers; filled in while apps load, since guards know no queue."""

    send: Callable[[str, float], None] | None = None


workers = Workers()


class CallTasks:
    """The tasks of all callers, over one link."""

    def __init__(
        self,
        link: RedisLink,
        *,
        keep_seconds: float = 3600,
        start_seconds: float = 600,
        most_open: int = 100,
        lease_seconds: float = LEASE_SECONDS,
        max_bytes: int = 4 * 1024 * 1024,
        max_total_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self._link = link
        self._keep = keep_seconds
        self.start_seconds = start_seconds
        self.most_open = most_open
        self._lease = lease_seconds
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes

    async def create(self, owner: str, call: str, *, run_seconds: float, again: bool) -> TaskRecord:
        """A new task of `owner` that waits for a worker; readable once this returns.

        With `again`, a task whose worker died is run once more.

        Raises:
            TooManyTasks, NoRoom: when there may be no more.
            RedisDown: when Redis cannot be reached.
        """
        task_id = str(uuid.uuid4())
        limits: tuple[Argument, ...] = (self.most_open, self._max_total_bytes)
        first, *rest = await self._step(
            task_id,
            *("create", _digest(owner), call, run_seconds, int(again)),
            *(self.start_seconds, self._keep, *limits),
        )
        if first == "crowded":
            raise TooManyTasks
        if first == "full":
            raise NoRoom
        created = float(first)
        return TaskRecord(task_id, TaskStatus.WORKING, created, created, int(rest[0]))

    async def discard(self, task_id: str) -> None:
        """Forget a task that nobody was told about."""
        await self._step(task_id, "discard")

    async def read(self, task_id: str, owner: str) -> TaskRecord | None:
        """The task as it stands; None for one that is not there or somebody else's.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        if not _is_id(task_id):
            return None
        reply = await self._step(task_id, "read", _digest(owner), MOST_ATTEMPTS)
        if not reply:
            return None
        status, end, created, updated, ttl, note, news, detail = reply
        return TaskRecord(
            task_id,
            TaskStatus(status),
            float(created),
            float(updated),
            int(ttl),
            TaskEnd(end),
            note,
            run_again=float(detail) if news == "again" else None,
            never_run=detail if news == "late" else None,
        )

    async def outcome(self, task_id: str) -> str | None:
        """What the worker handed in; None when there is nothing.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        packed = await fetch(self._link, _keys(task_id)[1])
        return await unpack(packed) if packed else None

    async def cancel(self, task_id: str, owner: str) -> Cancelled | None:
        """End a task. One that waits never runs; one that runs is stopped by its worker.

        None for a task that is not there or somebody else's; one that is over stays as it is.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        if not _is_id(task_id):
            return None
        reply = await self._step(task_id, "cancel", _digest(owner))
        if not reply:
            return None
        return Cancelled(never_run=reply[1] if reply[0] == "waiting" else None)

    async def claim(self, task_id: str, runner: str) -> Claim:
        """Take a task to run it. An empty claim means that there is nothing to do.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        what, *detail = await self._step(task_id, "claim", runner, self._lease, MOST_ATTEMPTS)
        return Claim(
            call=detail[0] if what == "run" else None,
            busy_seconds=float(detail[0]) if what == "busy" else None,
            never_run=detail[0] if what == "late" else None,
        )

    async def beat(self, task_id: str, runner: str, note: str = "") -> bool:
        """Renew the lease and say how far the run is. False: stop, the task is not ours any more.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        reply = await self._step(task_id, "beat", runner, self._lease, note)
        return bool(reply[0] == "1")

    async def ask(self, task_id: str, runner: str, requests: Mapping[str, str]) -> bool:
        """Ask the caller, by names used once in the life of a task. False: not ours any more.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        reply = await self._step(task_id, "ask", runner, *_in_turn(requests))
        return bool(reply[0] == "1")

    async def asked(self, task_id: str) -> dict[str, str]:
        """What the caller has still to answer, by name.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        return _by_name(await self._link.command("HGETALL", f"{_keys(task_id)[0]}:asked"))

    async def answer(self, task_id: str, owner: str, responses: Mapping[str, str]) -> bool:
        """Take what the caller answered; what nobody asked for is dropped. False: no such task.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        if not _is_id(task_id):
            return False
        reply = await self._step(task_id, "answer", _digest(owner), *_in_turn(responses))
        return bool(reply)

    async def collect(self, task_id: str, runner: str) -> dict[str, str]:
        """All answers, once none is missing; nothing before.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        return _by_name(await self._step(task_id, "collect", runner))

    async def finish(self, task_id: str, runner: str, status: TaskStatus, outcome: str) -> bool:
        """Hand in the outcome of a run. False when the task ended otherwise meanwhile.

        Raises:
            ValueError: for an outcome too large to keep.
            RedisDown: when Redis cannot be reached.
        """
        packed = await pack(outcome.encode("utf-8", "surrogatepass"))
        if len(packed) > self._max_bytes:
            raise ValueError(f"an outcome of {len(packed)} bytes is too large to keep")
        uploaded = f"{_keys(task_id)[1]}:{secrets.token_hex(8)}"
        await upload(self._link, uploaded, packed)
        arguments: tuple[Argument, ...] = ("finish", runner, status, len(packed))
        reply = await self._step(task_id, *arguments, uploaded=uploaded)
        return bool(reply[0] == "1")

    async def _step(self, task_id: str, *arguments: Argument, uploaded: str = "") -> Any:
        keys = [*_keys(task_id), *([uploaded] if uploaded else [])]
        return await self._link.script(_STEP, keys, *arguments)


def _in_turn(texts: Mapping[str, str]) -> list[str]:
    return [part for pair in texts.items() for part in pair]


def _by_name(reply: Any) -> dict[str, str]:
    """A reply of names and texts in turn; newer protocols of Redis pair them themselves."""
    if isinstance(reply, dict):
        return reply
    return dict(zip(reply[::2], reply[1::2], strict=True))


def _is_id(task_id: str) -> bool:
    try:
        return str(uuid.UUID(task_id)) == task_id
    except ValueError:
        return False


def _digest(owner: str) -> str:
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _keys(task_id: str) -> list[str]:
    task = f"cp:task:{task_id}"
    return [task, f"{task}:outcome", "cp:tasks:index", "cp:tasks:sizes"]
