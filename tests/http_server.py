"""A small HTTP API on a real port, with faults on command.

It answers every request with `always`, keeps what it was asked, and sees when a client hangs up.
`behave` queues other answers, one for each coming request.
"""

from __future__ import annotations

import json
import select
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from typing_extensions import override


@dataclass(frozen=True)
class Reply:
    """How a request is answered.

    `pieces` are sent one by one; `hang` before the answer, or with `stall`
    after its first piece, until the client leaves; `drop` the connection without a word, with `short`
    in the middle of the body; `raw` bytes instead of HTTP. `only` names the one method that it is for.
    """

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None
    hang: bool = False
    stall: bool = False
    drop: bool = False
    short: bool = False
    raw: bytes = b""
    only: str = ""


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A value as a JSON API gives it; underscores in names of headers stand for hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), headers=named)


@dataclass(frozen=True)
class Asked:
    """One request as it came. `target` is the path and query, byte for byte."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    def header(self, name: str) -> str | None:
        """The value of a header that came once; None if it did not."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) <= 1, f"{name} came {len(found)} times"
        return found[0] if found else None


@dataclass
class HttpServer:
    """The API at `url`."""

    always: Reply = field(default_factory=Reply)
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    under_way: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._replies: list[Reply] = []
        self._choosing = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Listener(self)
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def behave(self, *replies: Reply) -> None:
        """How the coming requests are answered, one after the other."""
        with self._choosing:
            self._replies.extend(replies)

    def next_reply(self, method: str) -> Reply:
        with self._choosing:
            for place, reply in enumerate(self._replies):
                if reply.only in {"", method}:
                    return self._replies.pop(place)
        return self.always

    def stop(self) -> None:
        """Go down; requests under way are let go."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self, client: Any) -> None:
        """Wait until the client has hung up, or the server is stopped."""
        limit = time.monotonic() + 60
        while not self._stopping.is_set() and time.monotonic() < limit:
            # A client says nothing while it waits: what can be read is its end.
            if select.select([client], [], [], 0.02)[0]:
                self.hung_up.set()
                return


@contextmanager
def http_server(**settings: Any) -> Iterator[HttpServer]:
    """A running API; gone afterwards."""
    server = HttpServer(**settings)
    try:
        yield server
    finally:
        server.stop()


class _Listener(ThreadingHTTPServer):
    """The listening part; `api` is what it serves."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, api: HttpServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave in the middle are what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def api(self) -> HttpServer:
        assert isinstance(self.server, _Listener)
        return self.server.api

    @override
    def setup(self) -> None:
        super().setup()
        self.api.connections += 1

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        target = self.requestline.split(" ")[1]
        asked = Asked(self.command, target, list(self.headers.items()), body)
        self.api.asked.append(asked)
        reply = self.api.next_reply(self.command)
        self.api.under_way.set()
        if reply.hang:
            self.api.wait(self.connection)
        if reply.drop or reply.hang:
            self.close_connection = True
        elif reply.raw:
            self.wfile.write(reply.raw)
            self.close_connection = True
        else:
            self.reply(reply)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_QUERY = answer  # noqa: N815

    def reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        if reply.content_type:
            self.send_header("Content-Type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pieces is not None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.send_pieces(reply)
            return
        self.send_header("Content-Length", str(len(reply.body) + (100 if reply.short else 0)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        self.close_connection = self.close_connection or reply.short

    def send_pieces(self, reply: Reply) -> None:
        assert reply.pieces is not None
        for piece in reply.pieces():
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if reply.stall:
                self.api.wait(self.connection)
                self.close_connection = True
                return
        self.wfile.write(b"0\r\n\r\n")

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""
