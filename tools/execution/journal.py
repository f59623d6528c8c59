"""Stage 10: what is written about a call.

Before a call's work begins an opening event is on its way to a Redis stream, and before its caller
gets an answer both that and a closing event are in it. The stream is on disk (append-only file) when Redis acknowledges, so a
process killed at any moment loses no call: what was opened and never closed is failed by a sweeper.
With Redis away the same events go straight to the database, many calls in one transaction; with
the database away too they go to a file that is read in later. The journal never fails a call.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from tools.context.redact import redact, redact_text
from tools.contracts import (
    NOTHING,
    Caller,
    CallState,
    ToolCall,
    ToolCallContext,
    ToolSpec,
    advance,
    iso_time,
)
from tools.errors import CallStatus, ControlPlaneError, ErrorCode
from tools.execution.journal_fallback import DirectWriter
from tools.execution.watch import Watch
from tools.guards.redis import JOURNAL_STREAM, RedisDown, RedisLink
from tools.tracing import Spans

logger = logging.getLogger(__name__)
call_log = logging.getLogger("tools.calls")

LONGEST_QUERY_KEPT: Final = 8000
LONGEST_ERROR_KEPT: Final = 1000
# Of parameters and of a result; the request log has more of them.
LONGEST_LOGGED: Final = 1000
UNNAMED: Final = "(no name)"


class CallRecord:
    """One call as the journal will know it; filled in while the call runs."""

    def __init__(self, call: ToolCall, caller: Caller, timeout_seconds: float) -> None:
        self.call = call
        self.caller = caller
        self.tool = call.tool
        self.source = ""
        self.dependency = ""
        self.state = CallState.RECEIVED
        self.status: CallStatus | None = None
        self.code: ErrorCode | None = None
        self.error = ""
        self.cache_hit: bool | None = None
        self.tokens_before: int | None = None
        self.tokens_after: int | None = None
        self.body: str | None = None
        self.encoded: str | None = None
        self.response_bytes: int | None = None
        # Milliseconds of each stage it went through, and the one under way.
        self.stages: dict[str, float] = {}
        self.stage = ""
        self.duration_ms = 0.0
        self.deadline_at = call.received_at + timedelta(seconds=timeout_seconds)
        self.opening: dict[str, Any] = {}
        # Where its spans are made, while they are exported.
        self.spans: Spans | None = None
        # What its stages decide, and their times one by one, where somebody wants to know.
        self.watch: Watch | None = None
        self._started = self._marked = time.perf_counter()

    def advance(self, following: CallState) -> None:
        """Move on in the life of a call; raises IllegalTransition on a skip."""
        self.state = advance(self.state, following)

    def enter(self, stage: str) -> None:
        """Let a span of `stage` begin; that of the stage before ends."""
        if self.spans is not None:
            self.spans.enter(stage)
        if self.watch is not None:
            self.watch.enter(stage)

    def mark(self, stage: str, following: str = "", *, span: str = "", needed: bool = True) -> None:
        """Note that `stage` has just ended, and which one begins.

        One that the tool has no need of took no time. `span` is what is entered where a stage has
        several of them.
        """
        self._note(stage, needed=needed)
        self.stage = following
        if following:
            self.enter(span or following)
        elif self.spans is not None:
            self.spans.leave()

    def _note(self, stage: str, *, needed: bool = True) -> None:
        if not needed:
            self.stages[stage] = 0.0
            return
        now = time.perf_counter()
        self.stages[stage] = round((now - self._marked) * 1000, 3)
        self._marked = now

    def found(self, spec: ToolSpec) -> None:
        self.source = spec.source.value
        self.dependency = spec.behind

    def answered(self, encoded: str, *, keep_body: bool) -> None:
        """Note the size of the answer and, where the tool allows it, its text."""
        # JSON from `dumps` is ASCII: as many bytes as characters.
        self.response_bytes = len(encoded)
        self.body = encoded if keep_body else None

    def succeed(self) -> None:
        self.advance(CallState.COMPLETED)
        self._end(CallStatus.SUCCESS)

    def fail(self, error: ControlPlaneError) -> None:
        if self.state is CallState.RECEIVED:
            self.advance(CallState.VALIDATING)
        self.advance(CallState.FAILED)
        self.code = error.code
        self.error = error.message
        self.body = None
        self._end(error.call_status)

    def _end(self, status: CallStatus) -> None:
        self.status = status
        # What was refused before tells by the stages it has no time of: figures count on that.
        if self.stage and "rate" in self.stages:
            self._note(self.stage)
        self.duration_ms = round((time.perf_counter() - self._started) * 1000, 3)


Observer = Callable[[CallRecord], None]
Event = Mapping[str, Any]


class Journal:
    """Writes opening and closing events where they survive."""

    def __init__(self, link: RedisLink, *, body_bytes: int, spool: Path) -> None:
        self._link = link
        self._body_bytes = body_bytes
        self._direct = DirectWriter(spool)
        self._rescues: set[asyncio.Future[None]] = set()

    def open(self, record: CallRecord) -> None:
        """Send the opening event; it is on its way before the call's work can begin."""
        record.opening = opening_event(record, self._body_bytes)
        sent = self._send(record.opening)
        sent.add_done_callback(partial(self._rescue, record.opening))

    async def close(self, record: CallRecord) -> None:
        """Write the closing event; once this returns the call is in the journal for good.

        Events are acknowledged in the order they were sent, so the opening one is safe by then too.
        """
        event = closing_event(record, self._body_bytes)
        await self._confirm(self._send(event), event)
        log_call(record, event)

    async def aclose(self) -> None:
        await asyncio.gather(*self._rescues, return_exceptions=True)
        await self._direct.aclose()

    def _send(self, event: Event) -> asyncio.Future[Any]:
        try:
            return self._link.submit("XADD", JOURNAL_STREAM, "*", "e", orjson.dumps(event))
        except (TypeError, ValueError) as fault:
            logger.exception("A journal event cannot be sent to Redis")
            failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            failed.set_exception(RedisDown(str(fault)))
            return failed

    def _rescue(self, event: Event, sent: asyncio.Future[Any]) -> None:
        """Write an event elsewhere that Redis did not take, without anybody waiting for it."""
        if sent.cancelled() or sent.exception() is not None:
            rescue = asyncio.ensure_future(self._direct.write(event))
            self._rescues.add(rescue)
            rescue.add_done_callback(self._rescues.discard)

    async def _confirm(self, sent: asyncio.Future[Any], event: Event) -> None:
        try:
            await asyncio.shield(sent)
        except asyncio.CancelledError:
            # The caller is gone; whether the event arrived is still to be seen to.
            sent.add_done_callback(partial(self._rescue, event))
            raise
        except RedisDown:
            await asyncio.shield(self._direct.write(event))
        except Exception:  # the journal never fails a call
            logger.exception("Redis refused a journal event")
            await asyncio.shield(self._direct.write(event))


def opening_event(record: CallRecord, limit: int) -> dict[str, Any]:
    """What is known when a call arrives, without secrets."""
    call = record.call
    parameters, size = _parameters(call.arguments, limit)
    query = call.arguments.get("query")
    return {
        "kind": "open",
        "call_id": str(call.call_id),
        "request_id": str(call.request_id),
        "correlation_id": redact_text(call.correlation_id[:256])[:128],
        "thread_id": redact_text(call.thread_id[:256])[:128],
        "tool": redact_text(call.tool[:256])[:64],
        "source": record.source,
        "transport": call.transport.value,
        "caller": record.caller.identifier[:140],
        "state": record.state.value,
        "parameters": parameters,
        "query_text": redact_text(query[: LONGEST_QUERY_KEPT + 4096])[:LONGEST_QUERY_KEPT]
        if isinstance(query, str)
        else "",
        "received_at": iso_time(call.received_at),
        "deadline_at": iso_time(record.deadline_at),
        "request_bytes": size,
    }


def closing_event(record: CallRecord, limit: int) -> dict[str, Any]:
    """The whole row, and the capped body of the answer."""
    finished = record.call.received_at + timedelta(milliseconds=record.duration_ms)
    event = {
        **record.opening,
        "kind": "close",
        "source": record.source,
        "dependency": record.dependency,
        "state": record.state.value,
        "status": record.status.value if record.status else "",
        "code": record.code.value if record.code else "",
        "error": redact_text(record.error)[:LONGEST_ERROR_KEPT],
        "finished_at": iso_time(finished),
        "duration_ms": record.duration_ms,
        "stages": orjson.dumps(record.stages).decode(),
        "cache_hit": record.cache_hit,
        "response_bytes": record.response_bytes,
        "tokens_before": record.tokens_before,
        "tokens_after": record.tokens_after,
        "body": None,
        "truncated": False,
    }
    if record.body is not None:
        # A little more than is kept goes through, so that no secret is cut in two and kept by half.
        event["body"] = redact_text(record.body[: limit + 4096])[:limit]
        event["truncated"] = len(record.body) > limit
    return event


def log_call(record: CallRecord, event: Event) -> None:
    """One structured line per call, from what the journal says of it: no secrets, nothing long."""
    if not call_log.isEnabledFor(logging.INFO):
        return
    told = told_afterwards(record, event)
    fields = {
        **told.to_log(),
        "call_id": event["call_id"],
        "caller": record.caller.identifier,
        "transport": record.call.transport.value,
        "code": event["code"] or None,
    }
    call_log.handle(_line(fields))


# What the records of all calls have in common. To make one from scratch is half the cost of the line:
# it walks the stack for the name of this file and asks for the process, the thread and the task.
_ALIKE: Final = vars(
    call_log.makeRecord(
        call_log.name, logging.INFO, __file__, 0, "MCP tool call completed", (), None
    )
)


def _line(fields: Mapping[str, Any]) -> logging.LogRecord:
    line, now = logging.LogRecord.__new__(logging.LogRecord), time.time()
    # The journal's own words, which are without secrets already.
    vars(line).update(_ALIKE, created=now, msecs=now % 1 * 1000, fields=fields, redacted=True)
    return line


def told_afterwards(record: CallRecord, event: Event) -> ToolCallContext:
    """The call as it is logged."""
    status = record.status or CallStatus.FAILURE
    succeeded = status is CallStatus.SUCCESS
    body = event["body"]
    return ToolCallContext(
        request_id=event["request_id"],
        correlation_id=event["correlation_id"] or None,
        thread_id=event["thread_id"] or None,
        tool_name=event["tool"] or UNNAMED,
        parameters=event["parameters"][:LONGEST_LOGGED],
        execution_start=record.call.received_at,
        execution_duration=round(record.duration_ms / 1000, 6),
        status=status,
        result=(None if body is None else body[:LONGEST_LOGGED]) if succeeded else NOTHING,
        error=None if succeeded else event["error"] or str(record.code),
    )


def _written(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Numbers beyond 64 bits, and what only Python knows.
        return json.dumps(value, ensure_ascii=False, default=str)


def _parameters(arguments: Mapping[str, Any], limit: int) -> tuple[str, int]:
    """The arguments as JSON without secrets, cut where they are too long to keep; and their size."""
    if not arguments:
        return "{}", 2
    text = _written(redact(arguments))
    size = len(text.encode())
    if len(text) > limit:
        text = json.dumps({"_truncated": text[:limit]}, ensure_ascii=False)
    return text, size
