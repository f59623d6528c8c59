"""An OpenTelemetry collector on a real port: takes OTLP over HTTP, keeps the spans, fails on command."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1 import trace_pb2
from typing_extensions import override

from tests.processes import wait_until

STAGES = (
    "identity",
    "lookup",
    "validation",
    "rate",
    "cache",
    "slot",
    "breaker",
    "backend",
    "budget",
    "journal",
)


@dataclass(frozen=True)
class Seen:
    """A span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: str
    start: int
    end: int
    failed: str
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass
class Collector:
    """What arrived at `url`. It answers `status`, or while `hanging` nothing at all."""

    status: int = 200
    spans: list[Seen] = field(default_factory=list)
    requests: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    hanging: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.server = _Listener(self)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def call(self, request_id: str) -> Seen:
        """The span of a call, once it is here."""
        return self.find(
            lambda span: (
                span.attributes.get("controlplane.request_id") == request_id
                and span.name.startswith("tools/call")
            )
        )

    def find(self, fits: Any) -> Seen:
        """The first span that fits, once it is here."""
        wait_until(lambda: any(fits(span) for span in list(self.spans)), what="a span")
        return next(span for span in self.spans if fits(span))

    def below(self, span: Seen) -> list[Seen]:
        """Its children in the order they began."""
        found = [one for one in list(self.spans) if one.parent_id == span.span_id]
        return sorted(found, key=lambda one: (one.start, one.end))

    def stages(self, span: Seen) -> dict[str, Seen]:
        return {one.name: one for one in self.below(span)}

    def take(self, body: bytes) -> None:
        asked = ExportTraceServiceRequest.FromString(body)
        for part in asked.resource_spans:
            about = _values(part.resource.attributes)
            for scope in part.scope_spans:
                self.spans.extend(_seen(span, about) for span in scope.spans)

    def stop(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def _seen(span: trace_pb2.Span, about: dict[str, Any]) -> Seen:
    failed = span.status.code == trace_pb2.Status.STATUS_CODE_ERROR
    return Seen(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=trace_pb2.Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        failed=span.status.message if failed else "",
        attributes=_values(span.attributes),
        resource=about,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def collecting(**settings: Any) -> Iterator[Collector]:
    """A running collector; gone afterwards."""
    collector = Collector(**settings)
    try:
        yield collector
    finally:
        collector.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, collector: Collector) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.collector = collector

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up in the middle are what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, _Listener)
        collector = self.server.collector
        body = self.rfile.read(int(self.headers["Content-Length"]))
        collector.requests += 1
        collector.headers.append({name.lower(): value for name, value in self.headers.items()})
        if collector.hanging.is_set():
            collector.released.wait(60)
            self.close_connection = True
            return
        if collector.status == 200:
            assert self.path == "/v1/traces"
            packed = self.headers.get("Content-Encoding") == "gzip"
            collector.take(gzip.decompress(body) if packed else body)
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(collector.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""
