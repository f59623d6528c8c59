"""A web process of its own on the database and the Redis of the suite, watched from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import redis

from tests.doors import free_port
from tests.load.served import COUNTS
from tests.processes import wait_until
from tests.workers import database_url
from tools.conf import deployment

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a web process has open, and what Redis holds for it. Each by name, with a count."""

    tasks: dict[str, int]
    threads: dict[str, int]
    objects: dict[str, int]
    descriptors: dict[str, int]
    children: int
    redis_clients: int
    subscriptions: dict[str, int]
    keys: frozenset[str]

    def more_than(self, before: Holdings) -> dict[str, Any]:
        """What is here now and was not there before; empty when nothing was left over."""
        grown: dict[str, Any] = {}
        for name in ("tasks", "threads", "objects", "descriptors", "subscriptions"):
            then, now = getattr(before, name), getattr(self, name)
            rest = {key: now[key] - then.get(key, 0) for key in now if now[key] > then.get(key, 0)}
            if rest:
                grown[name] = rest
        for name in ("children", "redis_clients"):
            if getattr(self, name) > getattr(before, name):
                grown[name] = getattr(self, name) - getattr(before, name)
        if self.keys - before.keys:
            grown["keys"] = sorted(self.keys - before.keys)
        return grown


class Web:
    """One web process: where it is, what it holds, how large it is."""

    def __init__(self, url: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.url = url
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text()

    def resident(self) -> float:
        """Memory in use, in MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE

    def processor_seconds(self) -> float:
        """Processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def holdings(self) -> Holdings:
        counted = httpx2.get(f"{self.url}{COUNTS}", timeout=30).json()
        with redis.Redis.from_url(deployment().redis_url, decode_responses=True) as client:
            channels = client.pubsub_channels("*")
            subscriptions = client.pubsub_numsub(*channels) if channels else []
            keys = frozenset(client.scan_iter("*", count=1000))
            clients = len(client.client_list())
        return Holdings(
            **counted,
            descriptors=self._descriptors(),
            children=self._children(),
            redis_clients=clients,
            subscriptions={str(name): int(number) for name, number in subscriptions},
            keys=keys,
        )

    def metrics(self) -> dict[str, Any]:
        """What the tool `server_metrics` says, asked over REST so that asking is no connection."""
        answer = httpx2.post(
            f"{self.url}/call-tool", json={"tool": "server_metrics", "arguments": {}}, timeout=30
        )
        assert answer.status_code == 200, answer.text
        data: dict[str, Any] = answer.json()["data"]
        return data

    def stop(self) -> float:
        """End it in order; the seconds it took."""
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(60)
        return time.monotonic() - began

    def _descriptors(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            try:
                target = os.readlink(entry)
            except FileNotFoundError:
                continue
            # Sockets and pipes have numbers of their own; what counts is how many there are.
            kind = target.partition(":")[0] if ":[" in target else target
            # SQLite keeps a closed file open while another connection holds a lock on it, and
            # takes it again for the next one.
            if ".sqlite3" not in kind:
                found[kind] = found.get(kind, 0) + 1
        return found

    def _children(self) -> int:
        while True:
            tasks = list(Path(f"/proc/{self.process.pid}/task").iterdir())
            # A thread that ends meanwhile hands its children to another, so they are counted anew.
            with suppress(FileNotFoundError, ProcessLookupError):
                return sum(len((task / "children").read_text().split()) for task in tasks)


@contextmanager
def web_process(log: Path, graceful_seconds: float = 10, **environment: str) -> Iterator[Web]:
    """A web process that serves; ended afterwards."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.load.served", str(port), str(graceful_seconds)],
            env={
                **os.environ,
                "DATABASE_URL": database_url(),
                # A line for each call would be most of the work, and of the log.
                "LOGGING__LEVEL": "WARNING",
                **environment,
            },
            stdout=output,
            stderr=output,
        )
    web = Web(f"http://127.0.0.1:{port}", process, log)
    try:
        wait_until(lambda: _serves(web), 30, "a serving web process")
        yield web
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _serves(web: Web) -> bool:
    assert web.process.poll() is None, web.log
    try:
        return httpx2.get(f"{web.url}/tools", timeout=5).status_code in {200, 401}
    except httpx2.HTTPError:
        return False
