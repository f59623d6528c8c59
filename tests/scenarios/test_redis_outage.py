"""Calls while Redis is killed, hung or comes back: answered, limited, and in the journal once."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from tests.doors import RestDoor
from tests.factories import make_service, make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of
from tests.processes import start_valkey, wait_until
from tools.conf import deployment
from tools.models import ToolRequest


class OwnRedis:
    """A Redis of this test's own, to be killed, stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{folder}/redis.sock"

    def start(self) -> None:
        self._process = start_valkey(self._folder, self._folder / "redis.sock")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()


@pytest.fixture
def own_redis(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path_factory.mktemp("r"))
    server.start()
    settings.REDIS_URL = server.url
    deployment.cache_clear()
    yield server
    server.stop()
    deployment.cache_clear()


@pytest.fixture
def fragile_door(transactional_db: None, own_redis: OwnRedis) -> Iterator[RestDoor]:
    opened = RestDoor()
    yield opened
    opened.stop()


def final_rows(request_ids: list[str]) -> None:
    """Wait until each call has exactly one row, and that one is final."""
    found = ToolRequest.objects.filter(request_id__in=request_ids)
    wait_until(
        lambda: found.filter(finished_at__isnull=False).count() == len(request_ids), timeout=30
    )
    assert found.count() == len(request_ids)


def test_with_redis_dead_calls_are_answered_and_journalled(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo", cache_ttl_seconds=60, max_concurrent=5, dependency="somewhere")
    fragile_door.start()
    own_redis.kill()
    answers = [fragile_door.call("echo", {"n": n}) for n in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    final_rows([answer.json()["request_id"] for answer in answers])


def test_with_redis_dead_the_rate_still_holds(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    make_service(security_rate_limit=10)
    fragile_door.start()
    own_redis.kill()
    statuses = [fragile_door.call("echo", {}).status_code for _ in range(12)]
    assert statuses.count(200) == 10
    assert statuses[-1] == 429


def test_with_redis_hung_calls_are_answered(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    fragile_door.start()
    own_redis.signal(signal.SIGSTOP)
    answers = [fragile_door.call("echo", {}) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    own_redis.signal(signal.SIGCONT)
    final_rows([answer.json()["request_id"] for answer in answers])


def test_redis_killed_and_restarted_in_the_middle_loses_and_doubles_nothing(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo", max_concurrent=50)
    make_service(security_rate_limit=1_000_000)
    fragile_door.start()
    ids = [str(uuid.uuid4()) for _ in range(150)]
    with ThreadPoolExecutor(30) as pool:
        futures = [
            pool.submit(fragile_door.call, "echo", {"delay": 0.2}, request_id=request_id)
            for request_id in ids
        ]
        wait_until(lambda: backend.calls.get("echo", 0) >= 20)
        own_redis.kill()
        wait_until(lambda: backend.calls.get("echo", 0) >= 80)
        own_redis.start()
        answers = [future.result() for future in futures]
    assert {answer.status_code for answer in answers} == {200}
    final_rows(ids)


def test_with_redis_and_the_database_away_rows_arrive_later(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    fragile_door.start()
    own_redis.kill()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tools_toolrequest RENAME TO away")
        try:
            answers = [fragile_door.call("echo", {}) for _ in range(3)]
        finally:
            cursor.execute("ALTER TABLE away RENAME TO tools_toolrequest")
    assert {answer.status_code for answer in answers} == {200}
    own_redis.start()
    final_rows([answer.json()["request_id"] for answer in answers])


def test_a_change_is_noticed_through_the_database_while_redis_is_away(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    tool = make_tool(name="echo")
    fragile_door.start()
    own_redis.kill()
    tool.enabled = False
    tool.save()
    wait_until(lambda: fragile_door.call("echo", {}).status_code == 404, timeout=3)


def test_a_breaker_and_a_slot_do_not_refuse_calls_for_want_of_redis(
    fragile_door: RestDoor, own_redis: OwnRedis, backend: FakeBackend
) -> None:
    make_tool(name="echo", dependency="somewhere", max_concurrent=1, queue_timeout_seconds=0)
    fragile_door.start()
    own_redis.kill()
    for _ in range(6):
        assert fragile_door.call("echo", {"fail": "transport"}).status_code == 503
    assert fragile_door.call("echo", {}).status_code == 200
    assert row_of(fragile_door.call("echo", {}).json()["request_id"]).status == "success"
