"""What a task or a thread is working on, so that every log line it writes says so."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from tools.tracing.spans import Spans


class Work:
    """One call, as long as it is worked on.

    Tasks that a call starts and that outlive it (a connection, a listener) keep pointing here; once
    the call is over, their lines are no longer its lines.
    """

    __slots__ = ("_before", "correlation_id", "over", "request_id", "spans")

    def __init__(self, request_id: Any, correlation_id: str, spans: Spans | None = None) -> None:
        self.request_id = request_id
        self.correlation_id = correlation_id
        self.spans = spans
        self.over = False
        self._before = working.set(self)

    def end(self) -> None:
        """From here on lines are about whatever was worked on before. In the same task as the start."""
        self.over = True
        working.reset(self._before)


working: ContextVar[Work | None] = ContextVar("working", default=None)


def working_on() -> Work | None:
    """What is being worked on here and now."""
    work = working.get()
    return None if work is None or work.over else work
