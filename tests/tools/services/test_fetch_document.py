"""Documents and lists fetched from elsewhere: why one cannot be had is told in words."""

from __future__ import annotations

import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from tests.tools.backends.http_api.certificates import certified
from tools.services.fetch_document import FetchFault, fetch_document

HERE = ("127.0.0.0/8",)
RESET = b"reset"


class Server(socketserver.ThreadingTCPServer):
    """Whoever does not trust its certificate hangs up, and nothing is said of that."""

    daemon_threads = True

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def answering(said: bytes, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Host and port of a server that says this to whatever it is asked, and hangs up."""

    class Handler(socketserver.BaseRequestHandler):
        @override
        def handle(self) -> None:
            self.request.recv(4096)
            if said is RESET:
                # Closing without lingering is a reset.
                self.request.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                self.request.close()
                return
            self.request.sendall(said)

    with Server(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def why_not(address: str) -> str:
    with pytest.raises(FetchFault) as raised:
        fetch_document(address, HERE)
    assert raised.value.passing
    return str(raised.value).removeprefix(f"{address} cannot be reached: ")


def test_a_port_where_nothing_is_has_its_words() -> None:
    assert why_not("http://127.0.0.1:9/tools") == "nothing there takes connections"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "what answers there is no HTTP"),
        (b"", "what answers there is no HTTP"),
    ],
)
def test_what_is_no_http_has_its_words(said: bytes, told: str) -> None:
    with answering(said) as place:
        assert why_not(f"http://{place}/tools") == told


def test_a_certificate_that_nobody_vouches_for_has_its_words(tmp_path: Path) -> None:
    serving, _ = certified(tmp_path, "127.0.0.1")
    with answering(b"", serving) as place:
        told = why_not(f"https://{place}/tools")
    assert told == "it does not prove that it is this host (TLS)"


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_what_does_not_speak_tls_has_its_words(said: bytes) -> None:
    with answering(said) as place:
        assert (
            why_not(f"https://{place}/tools")
            == "what answers there does not speak TLS as this does"
        )


def test_a_connection_that_is_reset_has_its_words() -> None:
    with answering(RESET) as place:
        assert why_not(f"https://{place}/tools") == "the connection broke off"


@pytest.mark.parametrize("length", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
def test_an_answer_that_ends_before_it_is_whole_has_its_words(length: bytes) -> None:
    with answering(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n\r\n5\r\n{") as place:
        assert why_not(f"http://{place}/tools") == "the connection broke off"
