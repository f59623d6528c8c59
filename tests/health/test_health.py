"""`manage.py health`: what it prints and how it ends, whatever is away."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
from django.core.management import call_command
from pytest_django import Settings

from health.findings import HealthReport, Source
from health.latest import KEY
from health.measure import own_checks
from health.record import record
from tests.health.reports import full_report, report
from tests.project.pages import PROJECT
from tests.workers import celery_worker, database_url
from tools.conf import deployment
from tools.services.seed_demo import seed_demo

pytestmark = pytest.mark.django_db(transaction=True)


def health(*flags: str) -> tuple[int, str]:
    """The exit code of the command and what it wrote."""
    written = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("health", *flags, stdout=written)
    code = ended.value.code
    assert isinstance(code, int)
    return code, written.getvalue()


def publish(url: str, found: HealthReport) -> None:
    with redis.Redis.from_url(url) as client:
        client.set(KEY, orjson.dumps(found.to_json()))


@pytest.fixture
def no_redis(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """Redis is not there."""
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    own_checks.cache_clear()
    yield
    deployment.cache_clear()
    own_checks.cache_clear()


def outside(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, this one unless told, in a process of its own."""
    return subprocess.run(
        [sys.executable, "manage.py", *(command or ("health",))],
        env={**os.environ, **environment},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("down", "code", "status"),
    [((), 0, "healthy"), (("worker",), 1, "degraded"), (("database",), 2, "unavailable")],
)
def test_it_ends_with_a_number_for_the_status(
    redis_url: str, down: tuple[str, ...], code: int, status: str
) -> None:
    # C06
    publish(redis_url, replace(report(*down), source=Source.SNAPSHOT))
    ended, written = health()
    assert ended == code
    assert re.match(rf"{status}, measured \d+ s ago by a round of the workers\n", written)


def test_table_has_every_dependency_and_pipeline(redis_url: str) -> None:
    publish(redis_url, full_report())
    lines = health()[1].splitlines()
    assert "mcp:todo    unknown      -     No answer within 1 s" in lines
    assert "database    connected    3 ms" in lines
    assert "rag_basic  healthy      41 ms" in lines
    assert "rag_off    not counted  -      It is switched off" in lines


def test_json_is_the_whole_report_with_its_age(redis_url: str) -> None:
    known = full_report()
    publish(redis_url, known)
    code, written = health("--json")
    told = json.loads(written)
    assert code == 1
    assert 0 <= told.pop("age_seconds") < 60
    assert told.pop("reasons") == known.reasons
    assert told == known.to_json()


def test_report_that_is_too_old_is_not_repeated(redis_url: str) -> None:
    # S0-079
    publish(redis_url, report(later=-70))
    code, written = health()
    assert code == 1
    assert re.match(r"degraded, measured \d s ago by one process\n", written)
    assert "No worker answers" in written


def test_check_measures_though_a_report_is_known(redis_url: str) -> None:
    publish(redis_url, report())
    assert health()[0] == 0
    code, written = health("--check")
    assert code == 1
    assert "The beat does not run" in written


def test_without_redis_the_database_is_asked(no_redis: None) -> None:
    record(report("redis"))
    code, written = health()
    assert code == 1
    assert "redis is away" in written


def test_without_redis_and_without_a_report_it_measures(no_redis: None) -> None:
    code, written = health()
    assert code == 1
    assert "Redis cannot be reached" in written


def test_without_the_database_what_is_published_is_told(redis_url: str, tmp_path: Path) -> None:
    publish(redis_url, report("database"))
    done = outside(DATABASE_URL=f"sqlite:///{tmp_path}/gone/db.sqlite3")
    assert (done.returncode, done.stderr) == (2, "")
    assert "database is away" in done.stdout


def test_without_the_database_and_redis_it_says_so_and_nothing_else(tmp_path: Path) -> None:
    done = outside(
        DATABASE_URL=f"sqlite:///{tmp_path}/gone/db.sqlite3", REDIS_URL=f"unix://{tmp_path}/no.sock"
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert re.match(r"unavailable, measured \d s ago by one process\n", done.stdout)
    assert "The database cannot be read" in done.stdout
    assert "Redis cannot be reached" in done.stdout


def test_log_is_shown_to_who_asks_for_it(no_redis: None, caplog: Any) -> None:
    health()
    assert caplog.records == []
    health("--verbosity", "2")
    assert "Redis is unavailable" in caplog.text


def test_command_finds_the_database_of_the_service(redis_url: str) -> None:
    record(report("worker"))
    done = outside(DATABASE_URL=database_url())
    assert (done.returncode, done.stderr) == (1, "")
    assert "worker is away" in done.stdout


def test_commands_that_measure_find_the_workers(redis_url: str, tmp_path: Path) -> None:
    # F0-14
    seed_demo(servers=False)
    with celery_worker(tmp_path / "worker.log", concurrency=1):
        checked = outside("health", "--check", "--json", DATABASE_URL=database_url())
        asked = ("rag_health_check", '{"include_details": true}')
        called = outside("call_tool", *asked, DATABASE_URL=database_url())
    assert json.loads(checked.stdout)["dependencies"]["worker"]["status"] == "connected"
    told = json.loads(called.stdout)["data"]["details"]["dependencies"]
    assert told["worker"]["status"] == "connected"
