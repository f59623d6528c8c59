"""A service that answers byte by byte and never comes to an end, but never pauses for long either."""

from __future__ import annotations

import select
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from typing_extensions import override

# Where the dripping begins: with what is sent at once, and with what follows drop by drop.
STAGES: Final = {
    "status line": (b"", b"x"),
    "headers": (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
    "many headers": (b"HTTP/1.1 103 Wait\r\n", b"X: y\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "rest": (b"HTTP/1.0 200 OK\r\n\r\n", b" "),
}
PAUSE: Final = 0.1
# Far above the timeouts of the tests: whoever waits that long does so for ever.
SECONDS: Final = 20


@contextmanager
def dripping(stage: str) -> Iterator[str]:
    """The address of a service that drips from this stage of an answer on."""
    first, drop = STAGES[stage]

    class Handler(socketserver.BaseRequestHandler):
        @override
        def handle(self) -> None:
            _drip(self.request, first, drop)

    with _Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


def _drip(client: Any, first: bytes, drop: bytes) -> None:
    """Until the client leaves; then nothing is left to be done."""
    limit = time.monotonic() + SECONDS
    _read_request(client)
    try:
        client.sendall(first)
        # A client says nothing while it waits: what can be read is its end.
        while not select.select([client], [], [], PAUSE)[0] and time.monotonic() < limit:
            client.sendall(drop)
    except OSError:
        return


def _read_request(client: Any) -> None:
    got = b""
    while b"\r\n\r\n" not in got:
        got += client.recv(65_536)
    head, _, body = got.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(lengths[0].partition(b":")[2]) - len(body) if lengths else 0
    while missing > 0:
        missing -= len(client.recv(missing))
