"""What the spans of one call cost the process that makes it, in processor time.

Run with `python -m bench.tracing`. Three ways in turns within one run: tracing off, finished spans as the product
makes them, and spans under way through a tracer of OpenTelemetry's SDK, which the product does not use. A call has ten
stages. Batches are put together as usual and thrown away instead of being sent; what their thread would need to write
them as OTLP is told apart.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from typing_extensions import override

from tools.conf import TracingSettings
from tools.tracing import Kind, Spans, Work, begin_spans
from tools.tracing.exporting import Exporting
from tools.tracing.spans import Out

CALLS: Final = 2000
TURNS: Final = 7
STAGES: Final = (
    *("identity", "lookup", "validation", "rate", "cache"),
    *("slot", "breaker", "backend", "budget", "journal"),
)
SERVER: Final = Kind.SERVER
ABOUT: Final = {f"attribute.{number}": "a short text" for number in range(10)}


class Nowhere(SpanExporter):
    """Takes every batch and keeps the last."""

    def __init__(self) -> None:
        self.last: Sequence[ReadableSpan] = ()

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.last = spans
        return SpanExportResult.SUCCESS

    @override
    def shutdown(self) -> None:
        """There is nothing to shut."""


def product(out: Out | None) -> None:
    """The spans of one call as `execute` makes them, or none while there is nowhere to send them."""
    spans = begin_spans("tools/call", {}) if out is None else Spans(out, "tools/call", {}, SERVER)
    work = Work("request", "", spans)
    if work.spans is not None:
        for stage in STAGES:
            work.spans.enter(stage)
        work.spans.finish(ABOUT)
    work.end()


def usual(tracer: trace.Tracer) -> None:
    """The same as spans that are under way."""
    whole = tracer.start_span("tools/call", kind=trace.SpanKind.SERVER)
    below = trace.set_span_in_context(whole)
    for stage in STAGES:
        tracer.start_span(stage, context=below).end()
    whole.set_attributes(ABOUT)
    whole.end()


def cost(work: Callable[[], None]) -> float:
    """Microseconds of processor time of this thread for one call."""
    began = time.thread_time()
    for _ in range(CALLS):
        work()
    return (time.thread_time() - began) / CALLS * 1e6


def writing(spans: Sequence[ReadableSpan]) -> float:
    """Microseconds that the thread of the exporter needs for the spans of one call."""
    began = time.thread_time()
    encode_spans(spans).SerializeToString()
    return (time.thread_time() - began) / len(spans) * (len(STAGES) + 1) * 1e6


def main() -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    tracer = provider.get_tracer("bench")
    sent = Nowhere()
    out = Exporting(TracingSettings("nowhere"), "bench", sent)
    names = ("off", "finished spans", "spans under way", "written as OTLP")
    taken: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(TURNS):
        taken["off"].append(cost(partial(product, None)))
        taken["finished spans"].append(cost(partial(product, out)))
        taken["spans under way"].append(cost(partial(usual, tracer)))
        taken["written as OTLP"].append(writing(sent.last))
    out.close()
    provider.shutdown()
    middle = {name: statistics.median(values) for name, values in taken.items()}
    for name, value in middle.items():
        print(f"{name:16} {value:8.1f} µs per call, {value / middle['finished spans']:6.3f} times")


if __name__ == "__main__":
    main()
