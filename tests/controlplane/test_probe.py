"""What a start learns from GET /metrics about the catalogue that is served."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from typing_extensions import override

from controlplane.runtime.probe import NotTold, served_catalogue


@contextmanager
def answering(*answers: tuple[int, str]) -> Iterator[str]:
    """A web process that gives these answers, one after the other; then it hangs up."""
    left = list(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not left:
                self.close_connection = True
                return
            status, body = left.pop(0)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        @override
        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_a_process_that_is_not_ready_is_asked_again() -> None:
    told = (200, "# TYPE x gauge\ncontrolplane_catalogue_version 7.0\n")
    with answering((503, "starting"), told) as address:
        assert [served_catalogue(address, "localhost", None) for _ in range(3)] == [None, 7, None]


@pytest.mark.parametrize("status", [404, 401, 200])
def test_a_process_that_does_not_tell_is_not_asked_again(status: int) -> None:
    with answering((status, "nothing of that")) as address, pytest.raises(NotTold):
        served_catalogue(address, "localhost", None)
