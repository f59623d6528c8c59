"""The NSIP Search API on a real port of this machine, with faults on command.

It serves the flock of `tests.nsip_flock` in the shape the API has today, or in its older one, and
keeps what it was asked. `fail` makes requests go wrong until `recover`; `die` and `revive` close
and open the port. `python -m tests.nsip_server 9640` serves it for trials by hand.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

from tests.nsip_answers import Asked, Refused, answer
from tests.nsip_flock import flock
from tests.nsip_shapes import Older, Today

ROOT: Final = "/api/"
JSON: Final = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Fault:
    """How a request goes wrong: a status, a hang until the server is let go, or nonsense.

    With `drop` the connection ends without a word.
    """

    status: int = 200
    retry_after: int | None = None
    hang: bool = False
    body: bytes | None = None
    drop: bool = False
    html: bool = False


ERROR: Final = Fault(status=500, body=b'{"message": "An error has occurred."}')
BUSY: Final = Fault(status=429, retry_after=7, body=b"Too many requests")
HANG: Final = Fault(hang=True)
GARBAGE: Final = Fault(body=b'{"success": true, "data": {"lpnId": \xff\xfe')
REFUSED: Final = Fault(body=b'{"success": false, "data": null, "message": "Maintenance"}')
PAGE: Final = Fault(body=b"<html><title>Maintenance</title><p>Back soon</p></html>", html=True)
DROP: Final = Fault(drop=True)


@dataclass
class NsipServer:
    """The API at `url`. `calls` counts requests by endpoint, such as `search/getDateLastUpdated`."""

    port: int = 0
    older: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults: dict[str, tuple[Fault, int | None]] = {}
        self._lock = threading.Lock()
        self._let_go = threading.Event()
        self.revive()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def shape(self) -> Today:
        return Older(flock()) if self.older else Today(flock())

    def fail(self, fault: Fault, endpoint: str = "", times: int | None = None) -> None:
        """Let the coming requests of `endpoint` (empty: of all) go wrong, as many times as said."""
        with self._lock:
            self._faults[endpoint] = (fault, times)

    def recover(self) -> None:
        """Answer well again; requests that hang are let go."""
        with self._lock:
            self._faults.clear()
        self._let_go.set()
        self._let_go = threading.Event()

    def record(self, asked: Asked) -> Fault | None:
        """Note a request; how it is to go wrong, if at all."""
        with self._lock:
            self.calls[asked.endpoint] += 1
            self.asked.append(asked)
            for name in (asked.endpoint, ""):
                fault, times = self._faults.get(name, (None, None))
                if fault is not None and times != 0:
                    self._faults[name] = (fault, None if times is None else times - 1)
                    return fault
        return None

    def hold(self) -> None:
        """Wait until `recover` or the end."""
        self._let_go.wait()

    def die(self) -> None:
        """Close the port and every connection: nobody answers there until `revive`."""
        self._let_go.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._listener.hang_up()

    def revive(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._let_go = threading.Event()
        self._listener = _Listener(self)
        self.port = self._listener.server_port
        threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()


@contextmanager
def nsip_server(port: int = 0, *, older: bool = False) -> Iterator[NsipServer]:
    """A running stand-in; gone afterwards."""
    server = NsipServer(port, older)
    try:
        yield server
    finally:
        server.die()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: NsipServer) -> None:
        super().__init__(("127.0.0.1", api.port), _Handler)
        self.api = api
        self.connections: set[socket.socket] = set()

    def hang_up(self) -> None:
        """End connections that clients keep for later, which outlive the port otherwise."""
        for connection in tuple(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def listener(self) -> _Listener:
        assert isinstance(self.server, _Listener)
        return self.server

    @property
    def api(self) -> NsipServer:
        return self.listener.api

    @override
    def setup(self) -> None:
        super().setup()
        self.listener.connections.add(self.connection)

    @override
    def finish(self) -> None:
        self.listener.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._serve(json.loads(sent))
        except ValueError:
            self._serve(None)

    @override
    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet."""

    def _serve(self, body: Any) -> None:
        url = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            endpoint=url.path.removeprefix(ROOT),
            query={name: values[-1] for name, values in parse_qs(url.query).items()},
            body=body,
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        fault = self.api.record(asked)
        if fault is not None:
            self._go_wrong(fault)
            return
        try:
            status, answered = 200, answer(self.api.shape, asked)
        except Refused as refused:
            status, answered = refused.status, {"message": refused.message}
        self._write(status, json.dumps(answered).encode(), {"Content-Type": JSON})

    def _go_wrong(self, fault: Fault) -> None:
        if fault.hang:
            self.api.hold()
        if fault.hang or fault.drop:
            self.close_connection = True
            return
        asked = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        kind = "text/html" if fault.html else JSON
        self._write(fault.status, fault.body or b"", {"Content-Type": kind, **asked})

    def _write(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    with nsip_server(int(sys.argv[1])) as running:
        sys.stdout.write(f"The NSIP stand-in answers at {running.url}\n")
        threading.Event().wait()
