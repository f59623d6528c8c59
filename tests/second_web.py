"""A second web process on the database and the Redis of the suite, as one more worker would be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.doors import free_port
from tests.processes import wait_until
from tests.workers import database_url


@contextmanager
def second_web_process(log: Path) -> Iterator[str]:
    """Its address, once it serves."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "uvicorn", "controlplane.asgi:application"),
                *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "on"),
                *("--no-access-log", "--timeout-graceful-shutdown", "5"),
            ],
            env={**os.environ, "DATABASE_URL": database_url()},
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}"

    def serving() -> bool:
        try:
            return httpx2.get(f"{url}/tools", timeout=5).status_code in {200, 401}
        except httpx2.HTTPError:
            return False

    try:
        wait_until(serving, 30, "a second web process")
        yield url
    finally:
        process.terminate()
        process.wait(20)
