"""A server made from an OpenAPI document: it knows its operations, and tells what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit

from typing_extensions import override

METHODS = ("get", "put", "post", "delete", "patch")


@contextmanager
def document_server(document: Mapping[str, Any]) -> Iterator[str]:
    """Serves every operation of `document`; the address to call it at."""
    known = [
        (method.upper(), template, re.compile(_pattern(template)))
        for template, item in document["paths"].items()
        for method in METHODS
        if method in item
    ]
    # A path without parameters wins over one that its parameters could also give.
    known.sort(key=lambda one: one[1].count("{"))

    class Handler(_Handler):
        operations = known

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _pattern(template: str) -> str:
    parts = re.split(r"\{([^}]+)\}", template)
    return "".join(
        f"(?P<p{number}>[^/]+)" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    operations: ClassVar[list[tuple[str, str, re.Pattern[str]]]] = []

    def answer(self) -> None:
        parts = urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        for method, template, pattern in self.operations:
            matched = pattern.fullmatch(parts.path)
            if method == self.command and matched:
                self._say(200, self._told(f"{method} {template}", matched, parts.query, sent))
                return
        self._say(404, {"message": "no such operation"})

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815 - names of http.server

    def _told(self, key: str, matched: re.Match[str], query: str, sent: bytes) -> dict[str, Any]:
        return {
            "operation": key,
            "path": [unquote(value) for value in matched.groups()],
            "query": parse_qsl(query, keep_blank_values=True),
            "type": (self.headers.get("Content-Type") or "").partition(";")[0],
            "body": sent.decode(),
        }

    def _say(self, status: int, told: Mapping[str, Any]) -> None:
        content = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test tells what went wrong."""
