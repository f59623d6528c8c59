"""Dependencies in the states that health checks must tell apart."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from celery import Celery
from django.db import connections
from typing_extensions import override

from health.checks import DependencyCheck, ThreadedCheck


@dataclass
class Hanging(ThreadedCheck):
    """A check that blocks until it is released, as a driver does whose server stopped answering."""

    name: ClassVar[str] = "hanging"

    release: threading.Event = field(default_factory=threading.Event, repr=False)
    entered: int = 0

    @override
    def run(self) -> float:
        self.entered += 1
        self.release.wait(60)
        return 0.001


@dataclass
class Answering(DependencyCheck):
    """A check that answers at once and counts how often it was asked."""

    name: ClassVar[str] = "database"

    runs: int = 0

    @override
    async def run(self) -> float:
        self.runs += 1
        await asyncio.sleep(0)
        return 0.002


@contextmanager
def sqlite_alias(alias: str, path: Path) -> Iterator[str]:
    """A second database of the project, in the given file."""
    definition = deepcopy(connections.settings["default"])
    definition.update(
        ENGINE="django.db.backends.sqlite3",
        NAME=str(path),
        CONN_MAX_AGE=0,
        OPTIONS={"init_command": "PRAGMA journal_mode=WAL;"},
    )
    connections.settings[alias] = definition
    try:
        yield alias
    finally:
        del connections.settings[alias]


@asynccontextmanager
async def silent_server(path: Path) -> AsyncIterator[str]:
    """A unix socket that takes connections and never says a word."""
    released = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.close()

    server = await asyncio.start_unix_server(serve, str(path))
    try:
        yield str(path)
    finally:
        released.set()
        server.close()
        await server.wait_closed()


def celery_app(broker: str) -> Celery:
    """A Celery application on a Redis reached through a unix socket, leaving the current one alone."""
    return Celery("health-test", broker=f"redis+socket://{broker}", set_as_current=False)
