"""A service of somebody else, on a real port: it lists what it is told to and answers with what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override


def tool(name: str, description: str = "Does something.", **properties: Any) -> dict[str, Any]:
    """An entry of /tools."""
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "input_schema": schema}


@dataclass
class Foreign:
    """The service at `url`. `replies` are sent for coming calls, as status, headers and body."""

    tools: list[Any] = field(default_factory=list)
    replies: list[tuple[int, Mapping[str, str], bytes]] = field(default_factory=list)
    lists: int = 0
    calls: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    # What /tools answers instead of its list, one after the other.
    listing: list[tuple[int, Mapping[str, str], bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = _Listener(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        if path == "/tools":
            self.lists += 1
            if self.listing:
                return self.listing.pop(0)
            listed = {"service": "foreign", "version": "1.2.3", "tools": self.tools}
            return 200, {}, json.dumps(listed).encode()
        call = json.loads(body)
        self.calls.append(call)
        if self.replies:
            return self.replies.pop(0)
        return succeeded({"echo": call["arguments"], "tool": call["tool"]})


def succeeded(data: Any) -> tuple[int, Mapping[str, str], bytes]:
    return 200, {}, json.dumps({"success": True, "data": data, "request_id": "1"}).encode()


def failed(status: int, code: str, **headers: str) -> tuple[int, Mapping[str, str], bytes]:
    """An envelope; underscores in names of headers stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"success": False, "error": "On command.", "code": code, "request_id": "1"}
    return status, named, json.dumps(body).encode()


@contextmanager
def foreign(tools: Sequence[Any] = ()) -> Iterator[Foreign]:
    service = Foreign(list(tools))
    try:
        yield service
    finally:
        service.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, service: Foreign) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        assert isinstance(self.server, _Listener)
        service = self.server.service
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        service.keys.append(self.headers.get("X-API-Key"))
        status, headers, body = service.answer(self.path, sent)
        self.send_response(status)
        chunked = headers.get("Transfer-Encoding") == "chunked"
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        if not chunked:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body)

    do_GET = do_POST = _serve  # noqa: N815

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""
