"""A Redis that takes connections and answers nothing."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Hanging:
    """Where it is, and what came."""

    url: str
    connections: list[socket.socket] = field(default_factory=list)


@contextmanager
def hanging_redis() -> Iterator[Hanging]:
    """Such a server while the block lasts."""
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="cp-hang-") as folder:
        path = Path(folder) / "redis.sock"
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.listen()
        found = Hanging(f"unix://{path}")
        thread = threading.Thread(target=_take, args=(listening, found.connections))
        thread.start()
        try:
            yield found
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            listening.close()
            for one in found.connections:
                one.close()


def _take(listening: socket.socket, connections: list[socket.socket]) -> None:
    while True:
        try:
            connections.append(listening.accept()[0])
        except OSError:
            return
