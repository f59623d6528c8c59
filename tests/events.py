"""Journal events for tests, as the path writes them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any


def opening(call_id: str, **changes: Any) -> dict[str, Any]:
    """The opening event of a call."""
    now = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
    return {
        "kind": "open",
        "call_id": call_id,
        "request_id": str(uuid.UUID(int=uuid.UUID(call_id).int & ~(0xF << 76) | 4 << 76)),
        "correlation_id": "",
        "thread_id": "",
        "tool": "echo",
        "source": "",
        "transport": "rest",
        "caller": "address:127.0.0.1",
        "state": "received",
        "parameters": '{"a": 1}',
        "query_text": "",
        "received_at": now.isoformat(),
        "deadline_at": (now + timedelta(seconds=30)).isoformat(),
        "request_bytes": 9,
        **changes,
    }


def closing(call_id: str, **changes: Any) -> dict[str, Any]:
    """The closing event of a call that worked."""
    event = opening(call_id, kind="close", state="completed", source="builtin")
    return event | {
        "dependency": "",
        "status": "success",
        "code": "",
        "error": "",
        "finished_at": event["received_at"],
        "duration_ms": 12.5,
        "stages": '{"backend": 11.0}',
        "cache_hit": None,
        "response_bytes": 12,
        "tokens_before": None,
        "tokens_after": None,
        "body": '{"ok": true}',
        "truncated": False,
        **changes,
    }
