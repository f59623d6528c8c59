"""Calls that people start from pages of the admin: begun here, looked at and ended from anywhere.

Pages are served by threads, of which there are few, and the next request of the same person may
reach another process. So a call runs on the event loop of the process that was asked to start it,
no thread waits for it, and where it stands is kept in Redis for an hour. With Redis away only
that process knows of it. A process without a runtime, such as a development server, opens one in
a thread of its own.

`start_trial`, `find_trial` and `cancel_trial` are for code without an event loop, in any thread.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from redis.exceptions import RedisError

from tools.backends.ports import ports
from tools.contracts import CallerKind, Credentials, Envelope, ToolCall, Transport
from tools.errors import InternalFault, Starting, whole_characters
from tools.execution.background import background
from tools.execution.ending import cancel_once, end
from tools.execution.envelope import failure
from tools.execution.execute import execute
from tools.execution.journal import CallRecord
from tools.execution.outcomes import outcome_of
from tools.execution.runtime import Runtime, current
from tools.execution.trial import (
    Outcome,
    Trial,
    TrialProgress,
    TrialState,
    read_about,
    read_outcome,
    read_progress,
    write_about,
    write_outcome,
    write_progress,
)
from tools.guards.redis import RedisDown
from tools.guards.trials import BEAT_SECONDS, Trials

__all__ = ["Outcome", "Trial", "TrialProgress", "TrialState"]
__all__ += ["cancel_trial", "find_trial", "others_reachable", "start_trial"]

logger = logging.getLogger(__name__)

# A loop that does not answer by then is stuck or gone.
PATIENCE: Final = 10.0
LONGEST_NOTE: Final = 500
# How long a Redis that is away is waited for, to hand in how a trial ended; and when the process ends.
HAND_IN_SECONDS: Final = 60.0
STOP_SECONDS: Final = 1.0
# Trials that Redis did not take, kept here for whoever asks this process.
MOST_KEPT_HERE: Final = 50
_AWAY: Final = (RedisDown, RedisError)
_T = TypeVar("_T")
# By id: those that run in this process, and those that ended here while Redis was away.
_here: dict[str, _Run] = {}


def start_trial(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    username: str,
    replay_of: str = "",
    fresh: bool = False,
) -> str:
    """Call `tool` as the admin user `username`, and come back at once; the id of the trial.

    `replay_of` is the call id of the call that is repeated. A replay, and a `fresh` trial, passes
    the cache over.

    Raises:
        Exception: whatever kept the catalogue from being read, where this process serves no calls.
    """

    async def work() -> str:
        begun = Trial(
            trial_id=str(uuid.uuid4()),
            tool=tool,
            arguments=arguments,
            username=username,
            started_at=datetime.now(UTC),
            replay_of=replay_of,
            # What was answered before tells nothing of how the tool answers now.
            fresh=fresh or bool(replay_of),
            shared=False,
        )
        run = _Run(current(), begun)
        await run.begin()
        return run.trial.trial_id

    return _on_loop(work)


def find_trial(trial_id: str, username: str) -> Trial | None:
    """The trial as it stands; None for one that is not known (any more), or somebody else's."""

    async def work() -> Trial | None:
        run = _here.get(trial_id)
        if run is not None:
            return run.seen() if run.trial.username == username else None
        return await _stored(current(), trial_id, username)

    return _on_loop(work)


def cancel_trial(trial_id: str, username: str) -> bool:
    """End a trial that runs, in whichever process. False: it does not run, or cannot be reached."""

    async def work() -> bool:
        run = _here.get(trial_id)
        if run is not None:
            return run.trial.username == username and run.cancel()
        try:
            return await Trials(current().link).cancel(trial_id, username)
        except _AWAY:
            return False

    return _on_loop(work)


def others_reachable() -> bool:
    """Whether trials of other processes can be seen and ended now: not while Redis is away."""

    async def work() -> bool:
        return current().link.available

    return _on_loop(work)


class _Run:
    """One trial in the process that runs it."""

    def __init__(self, runtime: Runtime, begun: Trial) -> None:
        self._runtime = runtime
        self._store = Trials(runtime.link)
        self._record: CallRecord | None = None
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        spec = runtime.directory.catalogue.tools.get(begun.tool)
        call = ToolCall(
            tool=begun.tool,
            arguments=begun.arguments,
            credentials=Credentials(kind=CallerKind.ADMIN, name=begun.username),
            transport=Transport.ADMIN,
            progress=self._report,
            observer=self._observe,
            # As in a task, in which such tools usually run.
            time_limit=spec.timeout_seconds if spec is not None and spec.long_running else None,
            fresh=begun.fresh,
        )
        self._call = call
        self.trial = replace(begun, call_id=str(call.call_id), request_id=str(call.request_id))
        self._work: asyncio.Task[Envelope] | None = None
        self._whole: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        _make_room()
        _here[self.trial.trial_id] = self
        if _stop_all not in ports.endings:
            ports.endings.append(_stop_all)
        self._work = asyncio.create_task(execute(self._call))
        self._whole = asyncio.create_task(self._go(self._work))
        # Before anybody has its id, so that whichever process is asked next knows of it.
        await self._make_known()

    def seen(self) -> Trial:
        """The trial at this moment."""
        if not self.trial.running:
            return self.trial
        return replace(self.trial, seconds=self._clock() - self._began)

    def cancel(self) -> bool:
        if self._work is None or self._work.done():
            return False
        self.trial = replace(self.trial, cancelling=True)
        cancel_once(self._work)
        return True

    async def stop(self) -> None:
        """End it because the process ends, and wait until that is handed in."""
        if self._work is not None and self._whole is not None:
            cancel_once(self._work)
            await asyncio.wait({self._whole}, timeout=STOP_SECONDS)
            await end(self._whole)

    async def _make_known(self) -> None:
        try:
            about = write_about(self.trial)
            await self._store.open(self.trial.trial_id, self.trial.username, about)
            self.trial = replace(self.trial, shared=True)
        except _AWAY as fault:
            self.trial = replace(self.trial, shared=False)
            logger.warning("A trial is known to this process alone: %s", type(fault).__name__)

    async def _go(self, work: asyncio.Task[Envelope]) -> None:
        beating = asyncio.create_task(self._beat())
        try:
            await asyncio.wait({work})
        finally:
            await end(beating)
        state = TrialState.CANCELLED if work.cancelled() else TrialState.ENDED
        if state is TrialState.CANCELLED and not self.trial.cancelling:
            # Nobody wanted that: the process is on its way out.
            state = TrialState.LOST
        seconds = self._clock() - self._began
        outcome = self._outcome(work)
        self.trial = replace(self.trial, state=state, seconds=seconds, outcome=outcome)
        limit = self._clock() + HAND_IN_SECONDS
        while not await self._hand_in(outcome) and self._clock() < limit:
            await asyncio.sleep(BEAT_SECONDS)

    def _outcome(self, work: asyncio.Task[Envelope]) -> Outcome:
        """What came of the call; whatever goes wrong beyond it, the trial has an end."""
        try:
            return outcome_of(None if work.cancelled() else work.result(), self._record)
        except Exception:
            logger.exception("Trial %s of %s failed on a bug", self.trial.trial_id, self.trial.tool)
            answer = failure(InternalFault(), self._call.request_id, {})
            return outcome_of(answer, self._record)

    async def _beat(self) -> None:
        """Say that the trial runs on, and hear whether it shall end."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                note = write_progress(self.trial.progress)
                wanted = await self._store.beat(self.trial.trial_id, note)
            except _AWAY:
                self.trial = replace(self.trial, shared=False)
                continue
            if wanted is None:
                await self._make_known()
            else:
                self.trial = replace(self.trial, shared=True)
            if wanted:
                self.cancel()

    async def _hand_in(self, outcome: Outcome) -> bool:
        """Give the outcome to Redis, and forget it here once it is there."""
        trial = self.trial
        text, owner = write_outcome(outcome), _owner(trial.username)
        ended = False
        if await self._runtime.kept.keep(trial.trial_id, owner, text):
            await self._make_known()
            try:
                ended = await self._store.end(trial.trial_id, trial.state)
            except _AWAY:
                logger.debug("The end of a trial is told later: Redis is away")
        self.trial = replace(trial, shared=ended)
        if ended:
            _here.pop(trial.trial_id, None)
        return ended

    async def _report(self, done: float, total: float | None, message: str) -> None:
        progress = TrialProgress(done, total, whole_characters(message[:LONGEST_NOTE]))
        self.trial = replace(self.trial, progress=progress)

    def _observe(self, record: CallRecord) -> None:
        self._record = record


async def _stored(runtime: Runtime, trial_id: str, username: str) -> Trial | None:
    try:
        record = await Trials(runtime.link).read(trial_id, username)
    except _AWAY:
        return None
    about = read_about(trial_id, record.about) if record is not None else None
    if record is None or about is None:
        return None
    outcome = None
    if record.state is not TrialState.RUNNING:
        outcome = read_outcome(await runtime.kept.read(trial_id, _owner(username)))
    return replace(
        about,
        state=record.state,
        seconds=record.seconds,
        cancelling=record.cancelling,
        progress=read_progress(record.note),
        outcome=outcome,
    )


async def _stop_all() -> None:
    """The process is on its way out: what still runs ends now, and is handed in."""
    await asyncio.gather(*(run.stop() for run in list(_here.values())), return_exceptions=True)
    _here.clear()


def _make_room() -> None:
    ended = [key for key, run in _here.items() if not run.trial.running]
    for key in ended[: max(0, len(ended) - MOST_KEPT_HERE + 1)]:
        del _here[key]


def _owner(username: str) -> str:
    # No caller of tools is named like this, so `read_result` finds none of it.
    return f"trial:{username}"


def _on_loop(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What `work` comes to on the loop that calls run on."""
    try:
        loop = current().loop
    except Starting:
        loop, _ = background.open()
    if loop is None or loop is _running_loop():
        raise RuntimeError("pages start calls from threads, beside the loop that runs them")
    future = asyncio.run_coroutine_threadsafe(work(), loop)
    try:
        return future.result(PATIENCE)
    except TimeoutError:
        future.cancel()
        raise


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
