"""A real Celery worker on the database and the Redis of the suite."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

from controlplane.celery import QUEUE
from tests.processes import wait_until


class Worker:
    """One worker process and its children, in a process group of their own."""

    def __init__(
        self, log: Path, concurrency: int, queues: Sequence[str], environment: dict[str, str]
    ) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "celery", "--app", "controlplane.celery", "worker"),
                    *("--pool", "prefork", "--concurrency", str(concurrency)),
                    *("--hostname", f"test-{uuid.uuid4().hex}@%h"),
                    *("--queues", ",".join(queues)),
                    *("--without-gossip", "--without-mingle"),
                ],
                env={**os.environ, "DATABASE_URL": database_url(), **environment},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        wait_until(lambda: " ready." in self.output, 60, "a worker that is ready")

    @property
    def output(self) -> str:
        return self._log.read_text()

    def children(self) -> list[int]:
        """The processes that run tasks."""
        pid = self.process.pid
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]

    def kill(self) -> None:
        """End the worker and its children at once, as a crash of the machine would."""
        if self.process.poll() is not None:
            return
        children = self.children()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        # They share its connections: a message that is sent before the last of them is gone would go to it.
        wait_until(lambda: not any(map(_lives, children)), 10, "the end of a worker's children")

    def stop(self) -> None:
        """End it in order: what runs is completed first."""
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def celery_worker(
    log: Path, concurrency: int = 2, queues: Sequence[str] = (QUEUE,), **environment: str
) -> Iterator[Worker]:
    """A worker that is ready for tasks of these queues; gone afterwards."""
    worker = Worker(log, concurrency, queues, environment)
    try:
        yield worker
    finally:
        worker.kill()


def _lives(pid: int) -> bool:
    """Whether the process still holds its files; nobody may have asked yet what it ended with."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def database_url() -> str:
    """Where other processes find the database of the suite."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
