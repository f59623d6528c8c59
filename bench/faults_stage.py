"""A web process of the product for benches about upstream servers, and a caller who keeps count."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from bench.gateway_parts import stop
from tests.doors import free_port
from tests.processes import start_valkey, wait_until

LOOPBACK: Final = ["127.0.0.0/8"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call got: a code when it failed, and the seconds it took."""

    code: str
    status: int
    seconds: float
    message: str = ""

    @property
    def good(self) -> bool:
        return self.status == 200


class Plane:
    """The product behind its port. Every call is counted, and found again in the request log."""

    def __init__(self, folder: Path, port: int, key: str) -> None:
        self.folder = folder
        self.port = port
        self.key = key
        self._client = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=200),
        )
        self._lock = threading.Lock()
        self._answered: list[str] = []
        self._made = 0

    def call(self, tool: str, **arguments: Any) -> Answer:
        """One call over REST."""
        began = time.monotonic()
        with self._lock:
            self._made += 1
        try:
            answer = self._client.post("/call-tool", json={"tool": tool, "arguments": arguments})
        except httpx2.HTTPError as fault:
            return Answer("no answer", 0, time.monotonic() - began, str(fault))
        seconds, body = time.monotonic() - began, answer.json()
        with self._lock:
            self._answered.append(body["request_id"])
        return Answer(body.get("code", ""), answer.status_code, seconds, body.get("error", ""))

    def list_tools(self) -> float:
        """Seconds that the list of tools took."""
        began = time.monotonic()
        self._client.get("/tools").raise_for_status()
        return time.monotonic() - began

    def count(self) -> tuple[int, int]:
        """Calls since the last count, and how many of them got no answer or left no row in the log."""
        with self._lock:
            made, answered = self._made, self._answered
            self._made, self._answered = 0, []
        missing = set(answered)

        def written() -> bool:
            missing.difference_update(self._rows())
            return not missing

        with suppress(AssertionError):
            wait_until(written, 20, "the rows of all calls")
        return made, made - len(answered) + len(missing)

    def _rows(self) -> set[str]:
        """The calls that have a final row in the request log."""
        address = f"file:{self.folder / 'controlplane.sqlite3'}?mode=ro"
        with sqlite3.connect(address, uri=True) as database:
            rows = database.execute(
                "SELECT request_id FROM tools_toolrequest WHERE state IN ('completed', 'failed')"
            ).fetchall()
        return {f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for (one,) in rows}

    def close(self) -> None:
        self._client.close()


def environment(folder: Path, **more: str) -> dict[str, str]:
    """For processes whose state is in `folder`."""
    settings = {"VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "controlplane.settings"}
    return {**os.environ, **settings, **more}


@contextmanager
def plane(
    folder: Path, servers: list[dict[str, Any]], commands: dict[str, Any] | None = None
) -> Iterator[Plane]:
    """The product with these servers in its catalogue; everything is gone afterwards."""
    with ExitStack() as stack:
        valkey = start_valkey(folder / "redis", folder / "run" / "redis.sock")
        stack.callback(stop, valkey)
        env = environment(folder, UPSTREAM_COMMANDS=json.dumps(commands or {"none": ["true"]}))
        filled = subprocess.run(
            [sys.executable, "-m", "bench.faults_product"],
            input=json.dumps(servers).encode(),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        port = free_port()
        with (folder / "product.log").open("wb") as log:
            command = [sys.executable, "manage.py", "serve", "--port", str(port)]
            process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        stack.callback(stop, process)
        served = Plane(folder, port, filled.stdout.decode().split()[-1])
        stack.callback(served.close)
        wait_until(lambda: _serves(served, process), 60, "a serving product")
        yield served


def _serves(served: Plane, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, (served.folder / "product.log").read_text()[-3000:]
    try:
        served.list_tools()
    except httpx2.HTTPError:
        return False
    return True
