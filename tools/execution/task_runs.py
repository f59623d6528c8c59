"""The worker's part of a task: claim it, run its call by `execute`, hand in the outcome.

A message may be delivered more than once: only who holds the claim runs the call. While it runs,
the claim is renewed; once that fails because the task was cancelled or ended, the call is
cancelled too, and `execute` writes that down.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from redis.exceptions import RedisError

from tools.contracts import Caller, CallerKind, Envelope, ToolCall
from tools.errors import (
    ControlPlaneError,
    ErrorDetails,
    ExecutionFailed,
    McpKind,
    ServiceUnavailable,
    Unauthenticated,
)
from tools.execution import envelope
from tools.execution.execute import execute
from tools.execution.runtime import serving
from tools.execution.stored import StoredCall, read_call, write_answer
from tools.guards.call_tasks import BEAT_SECONDS, CallTasks, TaskStatus
from tools.guards.redis import COOL_DOWN, RedisDown
from tools.selectors import Catalogue
from tools.tracing import Work

logger = logging.getLogger(__name__)

# How long a Redis that is away is waited for, to claim a task or to hand in its outcome.
PATIENCE: Final = 30.0
LONGEST_NOTE: Final = 200
_T = TypeVar("_T")


async def run_task(task_id: str, run_seconds: float) -> None:
    """Run the call of a task, if it is still to be run."""
    tasks, runner = serving().tasks, secrets.token_hex(8)
    claim = await _patiently(lambda: tasks.claim(task_id, runner))
    if claim.busy_seconds is not None:
        # Delivered again. Its runner has died, or will have renewed its claim by then.
        await asyncio.sleep(claim.busy_seconds + BEAT_SECONDS)
        claim = await _patiently(lambda: tasks.claim(task_id, runner))
    if claim.never_run is not None:
        late = ServiceUnavailable("No worker came free for the task in time", retry_after=60)
        await execute(replace(read_call(claim.never_run).call, fault=late))
    if claim.call is not None:
        await TaskRun(tasks, task_id, runner).go(read_call(claim.call), run_seconds)


class TaskRun:
    """One run of a task by this worker."""

    def __init__(self, tasks: CallTasks, task_id: str, runner: str) -> None:
        self._tasks = tasks
        self._task_id = task_id
        self._runner = runner
        self._note = ""
        self._rounds = 0
        self._askable: frozenset[str] = frozenset()

    async def go(self, stored: StoredCall, run_seconds: float) -> None:
        """Run the call until it is done or the task is no longer to be run."""
        about = Work(stored.call.request_id, stored.call.correlation_id)
        try:
            await self._go(stored, run_seconds)
        finally:
            about.end()

    async def _go(self, stored: StoredCall, run_seconds: float) -> None:
        call = replace(
            current(stored, serving().directory.catalogue),
            time_limit=run_seconds,
            progress=self._report,
            asking=self._ask,
        )
        self._askable = call.askable
        work = asyncio.create_task(execute(call))
        holding = asyncio.create_task(self._hold())
        try:
            await asyncio.wait({work, holding}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            finished = work.done()
            for task in (work, holding):
                task.cancel()
            await asyncio.gather(work, holding, return_exceptions=True)
        if finished:
            await self._hand_in(work.result())

    async def _report(self, done: float, total: float | None, message: str) -> None:
        share = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        self._note = (f"{share}: {message}" if message else share)[:LONGEST_NOTE]

    async def _ask(self, requests: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """Ask the caller and wait for all answers; the tool's time runs on meanwhile."""
        missing = {str(request["method"]) for request in requests.values()} - self._askable
        if missing:
            raise ExecutionFailed(
                f"The client cannot be asked: it did not declare {', '.join(sorted(missing))}",
                ErrorDetails(suggestion="Use a client that answers such requests"),
            )
        if not requests:
            return {}
        self._rounds += 1
        # A name must not be used twice in the life of a task.
        names = {f"{self._rounds}.{name}": name for name in requests}
        texts = {wire: json.dumps(requests[name]) for wire, name in names.items()}
        await _patiently(lambda: self._tasks.ask(self._task_id, self._runner, texts))
        while not (answers := await _patiently(self._collect)):
            await asyncio.sleep(BEAT_SECONDS)
        return {names[wire]: json.loads(text) for wire, text in answers.items()}

    async def _collect(self) -> dict[str, str]:
        return await self._tasks.collect(self._task_id, self._runner)

    async def _hold(self) -> None:
        """Keep the claim; returns when the task is not ours any more."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                if not await self._tasks.beat(self._task_id, self._runner, self._note):
                    return
            except (RedisDown, RedisError) as fault:
                logger.warning("Task %s goes on unseen: %s", self._task_id, type(fault).__name__)

    async def _hand_in(self, answer: Envelope) -> None:
        try:
            taken = await self._finish(answer)
        except ValueError:
            taken = await self._finish(envelope.failure(_too_large(), answer.request_id, {}))
        if not taken:
            logger.info("Task %s ended before its call did", self._task_id)

    async def _finish(self, answer: Envelope) -> bool:
        text, status = write_answer(answer), _ending(answer)
        return await _patiently(
            lambda: self._tasks.finish(self._task_id, self._runner, status, text)
        )


async def _patiently(work: Callable[[], Awaitable[_T]]) -> _T:
    """Do `work`, again and again while Redis is away; what is done twice does no harm."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            return await work()
        except (RedisDown, RedisError):
            if time.monotonic() > limit:
                raise
            await asyncio.sleep(COOL_DOWN)


def current(stored: StoredCall, catalogue: Catalogue) -> ToolCall:
    """The call with what its caller may do now; refused when the caller is no longer known."""
    try:
        return replace(stored.call, caller=_present(stored, catalogue))
    except ControlPlaneError as refusal:
        return replace(stored.call, fault=refusal)


def _present(stored: StoredCall, catalogue: Catalogue) -> Caller:
    caller = stored.caller
    if caller.kind is CallerKind.ANONYMOUS and catalogue.settings.security_api_keys_enabled:
        raise _unknown("An API key is required by now")
    if caller.kind is not CallerKind.API_KEY:
        return caller
    same = (one for one in catalogue.callers.values() if one.identifier == caller.identifier)
    present = next(same, None)
    if present is None:
        raise _unknown("The API key has been switched off since the call was made")
    if not stored.toolset:
        return present
    granted = present.toolsets is None or stored.toolset in present.toolsets
    return replace(present, toolsets=frozenset({stored.toolset} if granted else ()))


def _unknown(message: str) -> Unauthenticated:
    return Unauthenticated(message, ErrorDetails(suggestion="Make the call again with a valid key"))


def _ending(answer: Envelope) -> TaskStatus:
    """A failure for the client program fails the task; one for the model is a result like others."""
    failure = answer.failure
    protocol = failure is not None and failure.mcp_kind is McpKind.PROTOCOL
    return TaskStatus.FAILED if protocol else TaskStatus.COMPLETED


def _too_large() -> ExecutionFailed:
    return ExecutionFailed(
        "The answer is too large to be kept for a task",
        ErrorDetails(suggestion="Ask for less at once"),
    )
