"""Calls as tasks: accepted now, run by a worker, asked about and cancelled by whoever made them.

Accepting goes through the first stages, so that a bad call is refused at once. The run itself is
`execute`, in a worker, as the caller that was known on acceptance. Every call leaves its row in the
request log: written by the run, or by whoever finds that there will be none.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from redis.exceptions import RedisError

from tools.contracts import Caller, Credentials, Envelope, ToolCall, ToolSpec
from tools.errors import (
    ConcurrencyExceeded,
    ControlPlaneError,
    DeadlineExceeded,
    ServiceUnavailable,
)
from tools.execution import identity, validation
from tools.execution.aim import GENERIC, aim
from tools.execution.execute import execute
from tools.execution.runtime import Runtime, serving
from tools.execution.spans import METHOD, tell_accepted
from tools.execution.stored import read_answer, read_call, write_call
from tools.guards.call_tasks import (
    CallTasks,
    NoRoom,
    TaskEnd,
    TaskRecord,
    TaskStatus,
    TooManyTasks,
    workers,
)
from tools.guards.redis import RedisDown
from tools.tracing import Kind, Spans, Work, begin_spans

logger = logging.getLogger(__name__)

POLL_MS: Final = 1000
# A tool whose metadata has this key set is not run for clients that know no tasks.
TASK_REQUIRED: Final = "task_required"
# What a run may take beside the tool's own time: waiting for Redis, shortening, the journal.
RUN_MARGIN: Final = 10.0
# A broker that has not taken a task by then will not be waited for.
SEND_SECONDS: Final = 3.0
# Workers are killed somewhat later than this; no run may be longer.
LONGEST_RUN: Final = 280.0
# Handing a task to the broker blocks its thread; two keep one slow hand-over from stopping all.
_broker = ThreadPoolExecutor(max_workers=2, thread_name_prefix="task-broker")


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as its caller sees it.

    `answer` is what the call gave, once it ran to its end; `fault` is why it never did. `requests`
    is what the caller is asked for meanwhile, as `{method, params}` by name.
    """

    task_id: str
    status: TaskStatus
    created_at: datetime
    updated_at: datetime
    ttl_ms: int
    poll_ms: int = POLL_MS
    note: str = ""
    answer: Envelope | None = None
    fault: ControlPlaneError | None = None
    requests: Mapping[str, Any] = field(default_factory=dict)


async def start_task(call: ToolCall) -> TaskView | Envelope | None:
    """Accept `call` as a task, or refuse it. None: run it now, while its caller waits.

    That is so for tools that are quick, for calls that will be refused anyway, and when Redis is
    away.
    """
    work = Work(call.request_id, call.correlation_id)
    try:
        return await _start_task(call, work)
    finally:
        work.end()


async def _start_task(call: ToolCall, work: Work) -> TaskView | Envelope | None:
    try:
        runtime, caller = await _asker(call.credentials)
        aimed = aim(call, runtime.directory.catalogue)
        spec = runtime.directory.find(aimed.tool, caller)
        if not spec.long_running or aimed.fault is not None or runtime.stopping:
            return None
        validation.validate(spec, aimed.arguments, runtime.validators)
    except ControlPlaneError:
        # The path refuses it for the same reason, and writes that down.
        return None
    run_seconds = min(spec.timeout_seconds, LONGEST_RUN) + RUN_MARGIN
    again = spec.idempotent or spec.read_only
    work.spans = begin_spans(METHOD, aimed.trace)
    stored = write_call(_below(work.spans, aimed), caller)
    try:
        view = await _accept(runtime, caller.identifier, stored, run_seconds, again=again)
        if work.spans is not None and view is not None:
            tell_accepted(work.spans, aimed)
        return view
    except TooManyTasks:
        most = runtime.tasks.most_open
        return await execute(
            replace(call, fault=ConcurrencyExceeded(f"More than {most} open tasks", POLL_MS / 1000))
        )
    except asyncio.CancelledError:
        # Nobody will ever hear of the task; the row is written all the same.
        await asyncio.shield(_write_off(aimed, _gone_away()))
        raise


def _below(spans: Spans | None, call: ToolCall) -> ToolCall:
    """The call as it is stored: where it runs, its spans are below that of handing it over."""
    if spans is None:
        return call
    spans.enter("task", Kind.PRODUCER)
    return replace(call, trace=spans.outward())


async def needs_task(call: ToolCall) -> bool:
    """Whether the tool runs only as a task. False for tools the caller does not see."""
    try:
        runtime, caller = await _asker(call.credentials)
        aimed = aim(call, runtime.directory.catalogue)
        spec = runtime.directory.find(aimed.tool, caller)
    except ControlPlaneError:
        return False
    return _only_as_task(spec)


def may_need_task(tool: str) -> bool:
    """Whether it is worth asking that; answered at once, for every call of clients without tasks."""
    try:
        spec = serving().directory.catalogue.tools.get(tool)
    except ControlPlaneError:
        return False
    return tool == GENERIC or (spec is not None and _only_as_task(spec))


def _only_as_task(spec: ToolSpec) -> bool:
    return spec.long_running and bool(spec.metadata.get(TASK_REQUIRED))


async def _accept(
    runtime: Runtime, owner: str, call: str, run_seconds: float, *, again: bool
) -> TaskView | None:
    """A task in Redis and on its way to a worker, or nothing at all."""
    try:
        record = await runtime.tasks.create(owner, call, run_seconds=run_seconds, again=again)
    except (RedisDown, RedisError, NoRoom) as fault:
        logger.warning("A call runs without a task: %s", type(fault).__name__)
        return None
    try:
        sent = await _send(record.task_id, run_seconds)
    except asyncio.CancelledError:
        await asyncio.shield(_discard(runtime.tasks, record.task_id))
        raise
    if not sent:
        await _discard(runtime.tasks, record.task_id)
        return None
    return _view(record)


async def _send(task_id: str, run_seconds: float) -> bool:
    """Tell the workers about a task. False when that did not work."""
    send = workers.send
    if send is None:
        return False
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await loop.run_in_executor(_broker, send, task_id, run_seconds)
    except Exception as fault:  # noqa: BLE001 - whatever the broker raises, the call can still run
        logger.warning("A task cannot be handed to the workers: %r", fault)
        return False
    return True


async def _discard(tasks: CallTasks, task_id: str) -> None:
    try:
        await tasks.discard(task_id)
    except (RedisDown, RedisError):
        logger.warning("Task %s stays behind until it expires", task_id)


async def read_task(credentials: Credentials, task_id: str) -> TaskView | None:
    """The task as it stands now; None when this caller has no such task.

    Raises:
        ControlPlaneError: the caller is not known, or tasks cannot be read now.
    """
    runtime, caller = await _asker(credentials)
    try:
        record = await runtime.tasks.read(task_id, caller.identifier)
        if record is None:
            return None
        text = await runtime.tasks.outcome(task_id) if _has_outcome(record) else None
        asks = record.status is TaskStatus.INPUT_REQUIRED
        asked = await runtime.tasks.asked(task_id) if asks else {}
    except (RedisDown, RedisError) as fault:
        raise _unreadable() from fault
    if record.run_again is not None:
        logger.warning("Task %s lost its worker and is queued again", task_id)
        await _send(task_id, record.run_again)
    if record.never_run is not None:
        await _write_off(read_call(record.never_run).call, _fault(runtime, TaskEnd.LATE))
    if text is not None:
        return replace(_view(record), answer=read_answer(text))
    requests = {name: json.loads(request) for name, request in asked.items()}
    return replace(_view(record), fault=_failure(runtime, record), requests=requests)


async def answer_task(credentials: Credentials, task_id: str, responses: Mapping[str, Any]) -> bool:
    """Give a task what it asked for; what it did not ask for is dropped. False: no such task.

    Raises:
        ControlPlaneError: the caller is not known, or tasks cannot be reached now.
    """
    runtime, caller = await _asker(credentials)
    texts = {name: json.dumps(response) for name, response in responses.items()}
    try:
        return await runtime.tasks.answer(task_id, caller.identifier, texts)
    except (RedisDown, RedisError) as fault:
        raise _unreadable() from fault


async def cancel_task(credentials: Credentials, task_id: str) -> bool:
    """End the task, unless it is over; its work stops soon. False: this caller has no such task.

    Raises:
        ControlPlaneError: the caller is not known, or tasks cannot be reached now.
    """
    runtime, caller = await _asker(credentials)
    try:
        cancelled = await runtime.tasks.cancel(task_id, caller.identifier)
    except (RedisDown, RedisError) as fault:
        raise _unreadable() from fault
    if cancelled is None:
        return False
    if cancelled.never_run is not None:
        await _write_off(read_call(cancelled.never_run).call, _gone_away())
    return True


async def _asker(credentials: Credentials) -> tuple[Runtime, Caller]:
    runtime = serving()
    await identity.prepare(credentials)
    return runtime, identity.identify(credentials, runtime.directory.catalogue)


async def _write_off(call: ToolCall, reason: ControlPlaneError) -> None:
    """Leave a row in the request log for a call that will not run."""
    await execute(replace(call, fault=reason))


def _view(record: TaskRecord) -> TaskView:
    return TaskView(
        record.task_id,
        record.status,
        datetime.fromtimestamp(record.created, UTC),
        datetime.fromtimestamp(record.updated, UTC),
        record.ttl_ms,
        note=record.note,
    )


def _has_outcome(record: TaskRecord) -> bool:
    ran = record.status in {TaskStatus.COMPLETED, TaskStatus.FAILED}
    return ran and record.end is TaskEnd.NONE


def _failure(runtime: Runtime, record: TaskRecord) -> ControlPlaneError | None:
    if record.end is not TaskEnd.NONE:
        return _fault(runtime, record.end)
    # A task that is over and should have an outcome, but has none any more.
    return _fault(runtime, TaskEnd.LOST) if _has_outcome(record) else None


def _fault(runtime: Runtime, end: TaskEnd) -> ControlPlaneError:
    if end is TaskEnd.OVERDUE:
        return DeadlineExceeded("The task", LONGEST_RUN)
    if end is TaskEnd.LATE:
        waited = runtime.tasks.start_seconds
        return ServiceUnavailable(f"No worker took the task within {waited:g} s", retry_after=60)
    return ServiceUnavailable("The worker that ran the task was lost", retry_after=1)


def _gone_away() -> ControlPlaneError:
    return ServiceUnavailable("The task was cancelled before it ran", retry_after=1)


def _unreadable() -> ControlPlaneError:
    return ServiceUnavailable("The state of tasks cannot be reached now", retry_after=1)
