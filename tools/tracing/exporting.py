"""Spans on their way to an OpenTelemetry collector: in batches, by a thread of their own.

A collector that is away or does not answer costs nothing but its spans: those that do not fit the
queue are dropped, and the log says once that none arrive and once that they do again. The provider
is no global one: what the packages we use make of their own work is not ours to tell.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    get_current_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from typing_extensions import override

from tools.conf import TracingSettings
from tools.tracing.spans import Begun, Finished, Kind

logger = logging.getLogger(__name__)

FLUSH_SECONDS: Final = 1.0
_KINDS: Final = {kind: SpanKind[kind.name] for kind in Kind}
_WELL: Final = Status(StatusCode.UNSET)
_W3C: Final = TraceContextTextMapPropagator()


class Exporting:
    """The way of this process to the collector; `sender` is what sends a batch there."""

    def __init__(
        self, settings: TracingSettings, service_name: str, sender: SpanExporter | None = None
    ) -> None:
        about: dict[str, str | int] = {
            "service.name": service_name,
            "service.version": settings.version,
            "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
            "host.name": socket.gethostname(),
            "process.pid": os.getpid(),
        }
        # It reads the sampler from the environment. Its own way out waits for half a minute.
        self._provider = TracerProvider(resource=Resource.create({**about}), shutdown_on_exit=False)
        sender = sender or OTLPSpanExporter(endpoint=settings.endpoint)
        self._sender = _Told(sender, settings.endpoint)
        self._processor = BatchSpanProcessor(self._sender)
        self._provider.add_span_processor(self._processor)
        self._scope = InstrumentationScope("tools", settings.version)
        self.new_id = self._provider.id_generator.generate_span_id

    def begin(self, name: str, kind: Kind, trace: Mapping[str, str]) -> Begun:
        """A new span below the one that `trace` tells of, sampled as the environment says."""
        context = _W3C.extract(trace) if trace else None
        found = get_current_span(context).get_span_context() if trace else None
        parent = found if found is not None and found.is_valid else None
        ids = self._provider.id_generator
        trace_id = ids.generate_trace_id() if parent is None else parent.trace_id
        decided = self._provider.sampler.should_sample(context, trace_id, name, _KINDS[kind])
        sampled = decided.decision is Decision.RECORD_AND_SAMPLE
        flags = TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT
        if ids.is_trace_id_random() if parent is None else parent.trace_flags.random_trace_id:
            flags |= TraceFlags.RANDOM_TRACE_ID
        return Begun(trace_id, self.new_id(), flags, parent, decided.trace_state)

    def take(self, begun: Begun, top: Finished, stages: list[Finished]) -> None:
        """Put a span and those below it into the queue."""
        whole = self._context(begun, top)
        for stage in stages:
            self._put(stage, self._context(begun, stage), whole)
        self._put(top, whole, begun.parent)

    def close(self) -> None:
        """Export what is in the queue, for at most a second; what is left then is lost."""
        ending = threading.Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
        ending.start()
        ending.join(FLUSH_SECONDS)
        if ending.is_alive():
            # No further tries: their thread would be around for a minute.
            self._sender.shutdown()

    def _context(self, begun: Begun, span: Finished) -> SpanContext:
        return SpanContext(
            begun.trace_id, span.span_id, False, TraceFlags(begun.flags), begun.trace_state
        )

    def _put(self, span: Finished, context: SpanContext, parent: SpanContext | None) -> None:
        self._processor.on_end(
            ReadableSpan(
                span.name,
                context,
                parent,
                self._provider.resource,
                span.attributes,
                kind=_KINDS[span.kind],
                status=Status(StatusCode.ERROR, span.error) if span.error else _WELL,
                start_time=span.start,
                end_time=span.end,
                instrumentation_scope=self._scope,
            )
        )


class _Told(SpanExporter):
    """Exports, and tells the log when that stops working and when it works again: once each."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter = exporter
        self._endpoint = endpoint
        self._failing = False
        self._ended = False

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        failed = result is not SpanExportResult.SUCCESS
        if failed and not self._failing:
            logger.warning(
                "Spans do not reach %s and are dropped; calls go on as before", self._endpoint
            )
        elif self._failing and not failed:
            logger.info("Spans reach %s again", self._endpoint)
        self._failing = failed
        return result

    @override
    def shutdown(self) -> None:
        if not self._ended:
            self._ended = True
            self._exporter.shutdown()
