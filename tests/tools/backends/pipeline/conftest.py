"""The trial pipeline in this process, and workers that run it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.stack import MANAGE
from tests.doors import RestDoor
from tests.tools.backends.pipeline.trial import Trial
from tests.workers import Worker, celery_worker, database_url
from tools.pipelines.index import layout
from tools.techniques import techniques

SETTINGS = "tests.tools.backends.pipeline.settings"
StartWorker = Callable[[int], Worker]


@pytest.fixture(autouse=True)
def trial(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The trial is a technique for the time of a test; its indexes are gone afterwards."""
    monkeypatch.setitem(techniques._known, Trial.name, Trial)
    yield
    shutil.rmtree(layout.root(), ignore_errors=True)


@pytest.fixture
def start_worker(door: RestDoor, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts workers for the trial with so many processes, on the door's database and Redis."""
    with ExitStack() as started:

        def start(concurrency: int = 1) -> Worker:
            log = tmp_path / f"worker-{len(list(tmp_path.glob('worker-*')))}.log"
            worker = celery_worker(
                log, concurrency, queues=("rag.trial",), DJANGO_SETTINGS_MODULE=SETTINGS
            )
            return started.enter_context(worker)

        yield start


@pytest.fixture(scope="module")
def lasting_worker(
    django_db_setup: None,
    django_db_blocker: Any,
    valkey: subprocess.Popen[bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Worker]:
    """A worker with one process, for all tests that leave it as it was."""
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    with django_db_blocker.unblock():
        started = celery_worker(log, 1, queues=("rag.trial",), DJANGO_SETTINGS_MODULE=SETTINGS)
    with started as worker:
        yield worker


@pytest.fixture
def worker(door: RestDoor, lasting_worker: Worker) -> Worker:
    """That worker, on the door's database and Redis."""
    return lasting_worker


@contextmanager
def managing(*arguments: str, merged: bool = False) -> Iterator[subprocess.Popen[str]]:
    """A management command that knows the trial, running in a process of its own."""
    with subprocess.Popen(
        [*MANAGE, *arguments],
        env={
            **os.environ,
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": SETTINGS,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
