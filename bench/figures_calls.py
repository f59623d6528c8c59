"""Made-up calls as the journal hears of them: many tools, callers, times and ways to end."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tools.contracts import time_ordered_uuid

SPREAD: Final = timedelta(minutes=50)
# Name, source, what is behind it, median of its times in ms, how much they vary, whether it is cached.
TOOLS: Final = (
    ("rag_basic", "pipeline", "pipeline:basic", 80.0, 0.5, False),
    ("rag_crag", "pipeline", "pipeline:crag", 300.0, 0.9, False),
    ("rag_graphrag", "pipeline", "pipeline:graphrag", 900.0, 0.4, False),
    ("create_todo", "upstream", "mcp:todo", 6.0, 0.7, False),
    ("list_todos", "upstream", "mcp:todo", 4.0, 1.2, True),
    ("far_search", "upstream", "mcp:far", 150.0, 1.5, True),
    ("nsip_search", "http_api", "api:nsip", 45.0, 0.8, True),
    ("nsip_lineage", "http_api", "api:nsip", 2500.0, 1.0, True),
    ("server_metrics", "builtin", "", 0.9, 0.3, False),
    ("made_up", "", "", 0.2, 0.3, False),
)
FAILURES: Final = (
    ("failure", "EXECUTION_ERROR"),
    ("timeout", "TIMEOUT"),
    ("failure", "INVALID_ARGUMENTS"),
    ("failure", "RATE_LIMITED"),
    ("failure", "SERVICE_UNAVAILABLE"),
)
FAILED: Final = 0.08
# Of all calls: sent to the journal twice, and opened by a process that then died.
REPEATED: Final = 0.05
ABANDONED: Final = 0.005
CALLERS: Final = 40


@dataclass(frozen=True, slots=True)
class Made:
    """The events of one call, in the order they are sent; those that come twice stand twice."""

    events: tuple[dict[str, Any], ...]


class Synthetic:
    """Calls that arrived within the last hour; the same ones for the same seed but for their times."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)  # noqa: S311 - not for secrets
        self._callers = [f"client:{number}" for number in range(1, CALLERS + 1)]
        self._weights = [1 / number for number in range(1, CALLERS + 1)]

    def calls(self, count: int) -> Iterator[Made]:
        start = datetime.now(UTC) - SPREAD
        for place in range(count):
            received = start + SPREAD * (place / count)
            opening = self._opening(received)
            if self._random.random() < ABANDONED:
                past = (received + timedelta(seconds=30)).isoformat()
                yield Made(({**opening, "deadline_at": past},))
                continue
            closing = self._closing(opening, received)
            times = 2 if self._random.random() < REPEATED else 1
            yield Made((opening, closing) * times)

    def _opening(self, received: datetime) -> dict[str, Any]:
        tool = self._random.choice(TOOLS)[0]
        return {
            "kind": "open",
            "call_id": str(time_ordered_uuid()),
            "request_id": str(uuid.uuid4()),
            "correlation_id": "",
            "thread_id": "",
            "tool": tool,
            "source": "",
            "transport": "rest",
            "caller": self._random.choices(self._callers, self._weights)[0],
            "state": "received",
            "parameters": "{}",
            "query_text": "",
            "received_at": received.isoformat(),
            # These calls came in long ago, but their closing events are still to be sent.
            "deadline_at": (datetime.now(UTC) + timedelta(hours=1)).isoformat(),
            "request_bytes": 2,
        }

    def _closing(self, opening: dict[str, Any], received: datetime) -> dict[str, Any]:
        _, source, behind, median, varies, cached = next(
            tool for tool in TOOLS if tool[0] == opening["tool"]
        )
        duration = round(median * self._random.lognormvariate(0, varies), 3)
        status, code = ("success", "")
        if not source:
            status, code = "failure", "TOOL_NOT_FOUND"
        elif self._random.random() < FAILED:
            status, code = self._random.choice(FAILURES)
        before = self._random.randint(10, 9000) if source == "http_api" and not code else None
        return {
            **opening,
            "kind": "close",
            "source": source,
            "dependency": behind,
            "state": "failed" if code else "completed",
            "status": status,
            "code": code,
            "error": "",
            "finished_at": (received + timedelta(milliseconds=duration)).isoformat(),
            "duration_ms": duration,
            "stages": '{"validation":0.1,"rate":0.1,"cache":0.0,"slot":0.0,"backend":1.0}'
            if not code
            else "{}",
            "cache_hit": self._random.random() < 0.4 if cached and not code else None,
            "response_bytes": 10,
            "tokens_before": before,
            "tokens_after": min(before, 2000) if before is not None else None,
            "body": None,
            "truncated": False,
        }
