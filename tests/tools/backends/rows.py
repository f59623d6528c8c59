"""Rows of the request log with known figures."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.contracts import CallState, Transport, time_ordered_uuid
from tools.errors import CallStatus, ErrorCode
from tools.models import ToolRequest

VALIDATED = {"validation": 0.1, "rate": 0.1}


def logged(rows: Iterable[ToolRequest], dependency: Mapping[str, str] | None = None) -> None:
    """Let the journal write `rows`, so that they count; `dependency` says what is behind a source."""
    behind = dependency or {}
    ToolRequest.objects.apply(
        [{**event_of(row), "dependency": behind.get(row.source, "")} for row in rows]
    )


def event_of(row: ToolRequest) -> dict[str, Any]:
    """The event that leaves `row` in the log."""
    event = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    for name, value in event.items():
        if isinstance(value, datetime):
            event[name] = value.isoformat()
        elif isinstance(value, uuid.UUID):
            event[name] = str(value)
    for name in ("parameters", "stages"):
        event[name] = json.dumps(event[name])
    kind = "open" if row.finished_at is None else "close"
    return {**event, "kind": kind, "tool": row.tool_id, "body": None, "truncated": False}


def finished(
    tool: str,
    *,
    ago: timedelta = timedelta(minutes=2),
    duration_ms: float | None = 10.0,
    code: ErrorCode | None = None,
    **values: Any,
) -> ToolRequest:
    """A call that ended: a success, or the failure that `code` names."""
    received = datetime.now(UTC) - ago
    status = CallStatus.SUCCESS if code is None else CallStatus.FAILURE
    if code is ErrorCode.TIMEOUT:
        status = CallStatus.TIMEOUT
    row: dict[str, Any] = {
        "call_id": time_ordered_uuid(),
        "request_id": uuid.uuid4(),
        "tool_id": tool,
        "source": "pipeline",
        "transport": Transport.REST.value,
        "caller": "local:test",
        "state": (CallState.COMPLETED if code is None else CallState.FAILED).value,
        "status": status.value,
        "code": code.value if code else "",
        "received_at": received,
        "deadline_at": received + timedelta(seconds=30),
        "finished_at": received + timedelta(milliseconds=duration_ms or 0),
        "duration_ms": duration_ms,
        "stages": VALIDATED,
    }
    return ToolRequest(**{**row, **values})


def still_open(tool: str) -> ToolRequest:
    """A call that has not ended."""
    row = finished(tool, duration_ms=None)
    row.state, row.status, row.finished_at = CallState.EXECUTING.value, "", None
    return row


def unknown_tool(name: str) -> ToolRequest:
    """A call of something that is no tool."""
    return finished(name, code=ErrorCode.TOOL_NOT_FOUND, source="", stages={})


def invalid(tool: str) -> ToolRequest:
    """A call whose arguments were refused before the backend."""
    return finished(tool, code=ErrorCode.INVALID_ARGUMENTS, stages={})
