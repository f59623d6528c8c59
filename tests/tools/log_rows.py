"""Rows of the request log for tests, made without going through a call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from tools.contracts import time_ordered_uuid
from tools.models import ToolRequest

NOW = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)


def row(**overrides: Any) -> ToolRequest:
    """A finished call that is not saved."""
    received = overrides.get("received_at", NOW)
    return ToolRequest(
        **{
            "call_id": time_ordered_uuid(),
            "request_id": uuid4(),
            "tool_id": "search_notes",
            "source": "http_api",
            "transport": "rest",
            "caller": "address:10.1.2.3",
            "state": "completed",
            "status": "success",
            "parameters": {"query": "<b>when</b>", "top_k": 5},
            "query_text": "when",
            "received_at": received,
            "deadline_at": received + timedelta(seconds=30),
            "finished_at": received + timedelta(milliseconds=1234),
            "duration_ms": 1234.5,
            "stages": {
                "validation": 1.5,
                "rate": 0.5,
                "cache": 0.7,
                "slot": 0.0,
                "backend": 1200.1,
                "budget": 30.2,
            },
            **overrides,
        }
    )


def record(**overrides: Any) -> ToolRequest:
    """A finished call in the log."""
    made = row(**overrides)
    made.save(force_insert=True)
    return made


def failed(code: str = "EXECUTION_ERROR", **overrides: Any) -> ToolRequest:
    """A call in the log that failed while it worked."""
    status = "timeout" if code == "TIMEOUT" else "failure"
    values = {"stages": {"validation": 1.5, "rate": 0.5}, "error": "It broke", **overrides}
    return record(state="failed", status=status, code=code, **values)


def running(**overrides: Any) -> ToolRequest:
    """A call in the log that has not ended."""
    ended: dict[str, Any] = {"status": "", "finished_at": None, "duration_ms": None, "stages": {}}
    return record(**{"state": "received", **ended, **overrides})
