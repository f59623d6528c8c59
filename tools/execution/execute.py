"""The one path: every call, whatever its door, goes through `execute`, top to bottom."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tools.contracts import (
    FINAL_STATES,
    BackendResult,
    CallContext,
    Caller,
    CallState,
    Credentials,
    Deadline,
    Envelope,
    InputRequired,
    ToolCall,
    ToolListing,
    ToolSource,
    ToolSpec,
    wire_time,
)
from tools.errors import (
    ControlPlaneError,
    ExecutionFailed,
    InternalFault,
    ServiceUnavailable,
    Stopping,
    whole_characters,
)
from tools.execution import admission, caching, dispatch, envelope, identity, validation
from tools.execution.aim import aim
from tools.execution.budget import apply_budget
from tools.execution.journal import CallRecord
from tools.execution.passing import Passed, passed_on, result_to_check, without_media
from tools.execution.rounds import answered_by, asked_of
from tools.execution.runtime import Runtime, serving
from tools.execution.spans import METHOD, failure_of, tell_call
from tools.execution.watch import Watch
from tools.tracing import Spans, Work, begin_spans

logger = logging.getLogger(__name__)

# `json.dumps` would make one like it for every answer.
_JSON: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


async def execute(call: ToolCall) -> Envelope:
    """Run one call and answer it. Never raises but for cancellation, which is journalled too."""
    work = Work(call.request_id, call.correlation_id, begin_spans(METHOD, call.trace))
    try:
        return await _execute(call, work.spans)
    finally:
        work.end()


async def _execute(call: ToolCall, spans: Spans | None) -> Envelope:
    if spans is not None:
        spans.enter("identity")
    try:
        runtime = serving()
        caller = call.caller or await _caller(runtime, call.credentials)
    except ControlPlaneError as error:
        # Neither a row nor a trace: strangers shall fill neither.
        return envelope.failure(error, call.request_id, {})
    call = aim(call, runtime.directory.catalogue)
    record = CallRecord(call, caller, _longest(call, runtime))
    record.spans = spans
    if call.observer is not None:
        record.watch = Watch()
    meta: dict[str, Any] = {}
    runtime.enter()
    runtime.journal.open(record)
    try:
        passed = await _run(runtime, record, meta)
        answer = _succeeded(record, passed, meta)
    except InputRequired as questions:
        answer = _asked(record, questions, meta)
    except ControlPlaneError as error:
        answer = _failed(record, error, meta)
    except asyncio.CancelledError:
        _failed(record, ServiceUnavailable("The caller went away", retry_after=1), meta)
        await _close(runtime, record)
        raise
    except Exception:
        logger.exception("Call %s of %s failed on a bug", call.request_id, call.tool)
        answer = _failed(record, InternalFault(), meta)
    await _close(runtime, record)
    return answer


def _longest(call: ToolCall, runtime: Runtime) -> float:
    """Seconds after which nobody works on the call any more."""
    limit = call.time_limit or runtime.settings.server_timeout
    waits = call.asking is not None and call.time_limit is None
    return limit + dispatch.LONGEST_ANSWER if waits else limit


async def _caller(runtime: Runtime, credentials: Credentials) -> Caller:
    await identity.prepare(credentials)
    return identity.identify(credentials, runtime.directory.catalogue)


async def _run(runtime: Runtime, record: CallRecord, meta: dict[str, Any]) -> Passed:
    """The stages, in the order that is the contract."""
    call, caller, directory = record.call, record.caller, runtime.directory
    record.advance(CallState.VALIDATING)
    if runtime.stopping:
        raise Stopping
    record.enter("lookup")
    spec = directory.find(call.tool, caller)
    record.found(spec)
    record.enter("validation")
    if call.fault is not None:
        raise call.fault
    arguments = validation.validate(spec, call.arguments, runtime.validators)
    limit = call.time_limit or runtime.settings.server_timeout
    deadline = Deadline.after(min(spec.timeout_seconds, limit))
    context = _context(call, caller, spec, deadline)
    record.mark("validation", "rate")
    meta["rate_limit_remaining"] = await admission.take_rate(caller, runtime.rate)
    record.mark("rate", "cache")
    record.advance(CallState.EXECUTING)

    reused = await _reuse_or_run(runtime, record, spec, arguments, context, meta=meta)
    record.cache_hit = reused.hit
    # Of the cache's for an answer that was there, of the backend's for one it gave.
    record.mark(record.stage, "budget")
    if reused.stale_since is not None:
        meta.update(stale=True, stale_since=wire_time(reused.stale_since))
    return await _budget(runtime, record, spec, reused.data, meta)


async def _reuse_or_run(
    runtime: Runtime,
    record: CallRecord,
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: CallContext,
    *,
    meta: dict[str, Any],
) -> caching.Reused:
    """The middle of it: cache, slot, breaker, backend."""

    async def call_backend() -> BackendResult:
        record.mark("slot", "backend", span="breaker", needed=spec.max_concurrent is not None)
        return await dispatch.dispatch(
            spec,
            arguments,
            context,
            registry=runtime.registry,
            breakers=runtime.breakers,
            patient=record.call.time_limit is None,
            spans=record.spans,
            watch=record.watch,
        )

    async def work() -> Any:
        record.mark("cache", "slot", needed=spec.cache_ttl_seconds is not None)
        answer = await admission.in_slot(spec, runtime.slots, context.deadline, call_backend)
        validation.check_result(spec, result_to_check(spec, answer.data), runtime.validators)
        # What the backend says about its work; a result that is reused comes without it.
        meta.update(answer.meta)
        return answer.data

    return await caching.reuse_or_run(
        spec,
        arguments,
        runtime.cache,
        context.deadline,
        work,
        fresh=record.call.fresh,
        personal=_may_be_asked(spec, context),
        watch=record.watch,
    )


def _may_be_asked(spec: ToolSpec, context: CallContext) -> bool:
    """Whether the answer may depend on what the caller says while the tool runs, or said before."""
    askable = context.asking is not None or context.in_rounds or context.round is not None
    return askable and spec.source is ToolSource.UPSTREAM


def _context(call: ToolCall, caller: Caller, spec: ToolSpec, deadline: Deadline) -> CallContext:
    return CallContext(
        caller,
        deadline,
        call.request_id,
        call.correlation_id,
        call.thread_id,
        call.progress,
        call.asking,
        call.transport,
        call.in_rounds,
        answered_by(call.round, spec, caller),
        call.trace,
    )


async def _budget(
    runtime: Runtime, record: CallRecord, spec: ToolSpec, raw: Any, meta: dict[str, Any]
) -> Passed:
    passed = passed_on(spec, raw)
    shown = without_media(passed)
    data, encoded = _encode(spec, shown)
    if data is not shown:
        passed = Passed(data, None, passed.media)
    owner, request_id = record.caller.identifier, str(record.call.request_id)
    budgeted = await apply_budget(
        spec,
        data,
        encoded,
        request_id=request_id,
        keep=partial(runtime.kept.keep, request_id, owner),
    )
    record.tokens_before, record.tokens_after = budgeted.tokens_before, budgeted.tokens_after
    record.answered(encoded, keep_body=spec.keep_body)
    whole = budgeted.data is data
    record.encoded = encoded if whole and not passed.media else None
    record.mark("budget")
    meta.update(budgeted.meta)
    if record.cache_hit is not None:
        meta["cache_hit"] = record.cache_hit
    return passed if whole else Passed(budgeted.data, None, passed.media)


def _encode(spec: ToolSpec, data: Any) -> tuple[Any, str]:
    """What is answered, and the same as JSON. Halves of characters are replaced: no door could send them."""
    try:
        text = _JSON.encode(data)
        if text.isascii() or _is_unicode(text):
            return data, text
        text = whole_characters(text)
        return json.loads(text), text
    except (TypeError, ValueError, RecursionError) as fault:
        logger.error("%s answered what is not JSON: %s", spec.name, fault)
        raise ExecutionFailed(f"{spec.name} gave an answer that is not JSON") from fault


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _succeeded(record: CallRecord, passed: Passed, meta: dict[str, Any]) -> Envelope:
    record.succeed()
    meta["execution_time_ms"] = int(record.duration_ms)
    return envelope.success(passed, record.call.request_id, meta, record.encoded)


def _asked(record: CallRecord, questions: InputRequired, meta: dict[str, Any]) -> Envelope:
    """This leg of the call is over; the caller makes another one with its answers."""
    record.succeed()
    meta["execution_time_ms"] = int(record.duration_ms)
    asked = asked_of(questions, record.call.tool, record.caller)
    return envelope.asking(asked, record.call.request_id, meta)


def _failed(record: CallRecord, error: ControlPlaneError, meta: dict[str, Any]) -> Envelope:
    if record.state not in FINAL_STATES:
        record.fail(error)
    meta["execution_time_ms"] = int(record.duration_ms)
    return envelope.failure(error, record.call.request_id, meta)


async def _close(runtime: Runtime, record: CallRecord) -> None:
    spans = record.spans
    if spans is not None:
        spans.leave(failure_of(record))
        spans.enter("journal")
    if record.watch is not None:
        record.watch.enter("journal")
    try:
        await runtime.journal.close(record)
    finally:
        runtime.leave(record)
        if spans is not None:
            tell_call(spans, record)
        if record.watch is not None and record.call.observer is not None:
            record.watch.enter("")
            record.call.observer(record)


async def list_tools(credentials: Credentials) -> ToolListing:
    """The tools a caller may see.

    Raises:
        ControlPlaneError: the caller is not known, or the service is starting.
    """
    directory = serving().directory
    await identity.prepare(credentials)
    return directory.listing(identity.identify(credentials, directory.catalogue))
