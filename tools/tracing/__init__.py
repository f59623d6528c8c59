"""What a call leaves behind for those who follow it: spans for a collector, ids on log lines.

Nothing here loads OpenTelemetry unless spans are exported: see `switch`.
"""

from __future__ import annotations

from tools.tracing.spans import Kind, Spans
from tools.tracing.switch import begin_spans, start_tracing, stop_tracing
from tools.tracing.w3c import LONGEST, TRACE_HEADERS, trace_of, without_baggage
from tools.tracing.working import Work, working, working_on

__all__ = [
    "LONGEST",
    "TRACE_HEADERS",
    "Kind",
    "Spans",
    "Work",
    "begin_spans",
    "start_tracing",
    "stop_tracing",
    "trace_of",
    "without_baggage",
    "working",
    "working_on",
]
