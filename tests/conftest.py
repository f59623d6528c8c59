"""Fixtures on real parts: a Valkey server for the whole run, emptied before each test."""

from __future__ import annotations

import gc
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
from django.apps import apps
from django.conf import settings
from django.db import connection

from tests import certificates, emptying
from tests.doors import RestDoor
from tests.faults.apps import FaultsConfig
from tests.faults.backend import FakeBackend
from tests.processes import start_valkey
from tools.backends.registry import registry
from tools.contracts import ToolSource
from tools.execution.background import background
from tools.guards.redis import RedisLink
from tools.models.tool_rules import ELSEWHERE


def pytest_configure(config: pytest.Config) -> None:
    """Take Ctrl-C also where whoever started the suite has it ignored, as shells do in the background.

    Processes that tests start inherit that, and some are ended that way.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # How long one example takes says more about the neighbours than about the program.
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    certificates.read_once()
    patch = pytest.MonkeyPatch()
    emptying.install(patch)
    config.add_cleanup(patch.undo)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about another database: it runs where the suite runs on that one."""
    here = [item for item in items if _meant_for_this_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(here)])
    items[:] = here


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was loaded out of the search for garbage, as web processes do.

    With five thousand tests in memory a search took most of a second, in which no door answered.
    """
    gc.collect()
    gc.freeze()


def _meant_for_this_database(item: pytest.Item) -> bool:
    return all(mark.args == (connection.vendor,) for mark in item.iter_markers("on_database"))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The suite's database. PostgreSQL drops it only once threads that still hold a session are cut off."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def valkey() -> Iterator[subprocess.Popen[bytes]]:
    """The Redis server that the settings of the suite point at."""
    process = start_valkey(Path(settings.VAR_DIR), settings.RUNTIME_PATHS.redis_socket)
    yield process
    process.terminate()
    process.wait(10)


@pytest.fixture
def redis_url(valkey: subprocess.Popen[bytes]) -> str:
    """Address of an empty Redis."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushall()
    return str(settings.REDIS_URL)


@pytest.fixture
async def link(redis_url: str) -> AsyncIterator[RedisLink]:
    """The batched connection of the hot path, on an empty Redis."""
    opened = RedisLink(redis_url)
    yield opened
    await opened.close()


@pytest.fixture
async def dead_link(tmp_path: Path) -> AsyncIterator[RedisLink]:
    """A link to a Redis that is not there."""
    opened = RedisLink(f"unix://{tmp_path}/nowhere.sock")
    yield opened
    await opened.close()


@pytest.fixture
def door(transactional_db: None, redis_url: str) -> Iterator[RestDoor]:
    """The REST door of the whole application, on an empty database and an empty Redis."""
    opened = RestDoor()
    yield opened
    opened.stop()


@pytest.fixture
def calls_from_pages(transactional_db: None, redis_url: str) -> Iterator[None]:
    """Pages may start calls: where no door is open, on an event loop in a thread that ends with the test."""
    yield
    background.close()


@pytest.fixture
def without_commands(monkeypatch: pytest.MonkeyPatch) -> str:
    """No commandable backend: tools of source http_api need an operation, and what says so."""
    faults = apps.get_app_config("faults")
    assert isinstance(faults, FaultsConfig)
    monkeypatch.setitem(ELSEWHERE, ToolSource.HTTP_API, faults.needs_operation)
    return faults.needs_operation


@pytest.fixture
def backend() -> FakeBackend:
    """The commandable backend behind tools of source http_api, with its counters at zero."""
    found = registry.get(ToolSource.HTTP_API)
    assert isinstance(found, FakeBackend)
    found.calls.clear()
    found.cancelled = 0
    return found
