"""Each check against the real thing, present, absent and hung."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from django.conf import settings
from health_check.exceptions import ServiceUnavailable
from pytest_django import DjangoDbBlocker
from typing_extensions import override

from health.checks import Database, DependencyCheck, Overrun, Redis, Worker
from health.checks.broker import answered
from tests.health.parts import Hanging, celery_app, silent_server, sqlite_alias
from tests.processes import wait_until


@pytest.fixture
def socket_dir() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


async def error_of(check: DependencyCheck) -> Exception | None:
    result = await check.get_result()
    error: Exception | None = result.error
    return error


@pytest.mark.django_db(transaction=True)
async def test_a_migrated_database_is_connected_and_its_answer_timed() -> None:
    # S3-070
    result = await Database(timeout=timedelta(seconds=20)).get_result()
    assert result.error is None
    assert result.time_taken > 0


async def test_a_database_that_cannot_be_opened_is_unavailable(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker, caplog: pytest.LogCaptureFixture
) -> None:
    # F0-14: the status follows the fault
    path = tmp_path / "gone" / "database.sqlite3"
    with django_db_blocker.unblock(), sqlite_alias("lost", path) as alias:
        error = await error_of(Database(alias, timeout=timedelta(seconds=20)))
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "The database cannot be read"
    assert "unable to open database file" in caplog.text


@pytest.mark.parametrize("content", [None, b"this is not a database at all" * 100])
async def test_a_lost_or_broken_database_file_is_unavailable(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker, content: bytes | None
) -> None:
    path = tmp_path / "database.sqlite3"
    if content is not None:
        path.write_bytes(content)
    with django_db_blocker.unblock(), sqlite_alias("broken", path) as alias:
        error = await error_of(Database(alias, timeout=timedelta(seconds=20)))
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "The database cannot be read"


async def test_a_hung_check_is_unknown_and_does_not_pile_up() -> None:
    # F3-26
    check = Hanging(timeout=timedelta(milliseconds=20))
    try:
        first = await error_of(check)
        assert isinstance(first, Overrun)
        assert first.message == "No answer within 0.02 s"
        # A limit that would fail the test by hanging: the answer must come without waiting for it.
        check.timeout = timedelta(hours=1)
        for _ in range(5):
            again = await error_of(check)
            assert isinstance(again, Overrun)
            assert again.message == "The last check has not answered yet"
        assert check.entered == 1
        names = [thread.name for thread in threading.enumerate()]
        assert names.count("check-hanging") == 1
    finally:
        check.release.set()
    recovered: list[Exception | None] = []
    for _ in range(200):
        recovered.append(await error_of(check))
        if recovered[-1] is None:
            break
        await asyncio.sleep(0.01)
    assert recovered[-1] is None


async def test_redis_that_answers_is_connected(redis_url: str) -> None:
    # S3-070
    result = await Redis(redis_url, timeout=timedelta(seconds=20)).get_result()
    assert result.error is None
    assert result.time_taken > 0


async def test_redis_that_is_not_there_is_unavailable_and_its_address_stays_private(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check = Redis(f"unix://{tmp_path}/nowhere.sock", timeout=timedelta(seconds=20))
    error = await error_of(check)
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "Redis cannot be reached"
    assert "nowhere" not in repr(check)
    assert "nowhere.sock" in caplog.text


async def test_redis_that_hangs_is_unknown(socket_dir: Path) -> None:
    # F3-26
    async with silent_server(socket_dir / "redis.sock") as path:
        error = await error_of(Redis(f"unix://{path}", timeout=timedelta(milliseconds=50)))
    assert isinstance(error, Overrun)


async def test_without_a_worker_the_worker_is_unavailable(redis_url: str) -> None:
    app = celery_app(redis_url.removeprefix("unix://"))
    error = await error_of(Worker(app, timeout=timedelta(seconds=2)))
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "No worker answers"


async def test_without_a_broker_the_worker_is_unavailable_at_once(tmp_path: Path) -> None:
    # A broker that is tried for ever would meet this limit and be unknown.
    worker = Worker(celery_app(f"{tmp_path}/nowhere.sock"), timeout=timedelta(seconds=30))
    error = await error_of(worker)
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "The message broker cannot be reached"


async def test_with_a_broker_that_hangs_the_worker_is_unknown(socket_dir: Path) -> None:
    # F3-26
    async with silent_server(socket_dir / "broker.sock") as path:
        error = await error_of(Worker(celery_app(path), timeout=timedelta(milliseconds=200)))
    assert isinstance(error, Overrun)


def test_only_a_pong_counts_as_an_answer() -> None:
    assert answered([{"worker@one": {"ok": "pong"}}])
    assert not answered([{"worker@one": {"error": "no"}}, {"worker@two": "pong"}])
    assert not answered([])
    assert not answered(None)


@dataclass
class Buggy(DependencyCheck):
    """A check with a bug whose message must not get out."""

    name: ClassVar[str] = "buggy"

    @override
    async def run(self) -> float:
        raise RuntimeError("password=hunter2")


async def test_an_unexpected_fault_is_logged_and_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        error = await error_of(Buggy())
    assert isinstance(error, ServiceUnavailable)
    assert error.message == "The check failed"
    assert "hunter2" in caplog.text


async def test_a_cancelled_check_leaves_its_thread_usable() -> None:
    check = Hanging(timeout=timedelta(hours=1))
    task = asyncio.create_task(check.get_result())
    while not check.entered:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    check.release.set()
    wait_until(lambda: check.probe.submit(lambda: 0.0) is not None, what="a free probe")


def test_checks_have_stable_names() -> None:
    # S3-057
    names = [Database().name, Redis(settings.REDIS_URL).name, Worker().name]
    assert names == ["database", "redis", "worker"]
