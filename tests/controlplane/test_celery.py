"""The Celery application: how it reaches Redis, what it runs and when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from threading import Thread

import celery
import pytest
import redis

from controlplane.celery import HARD_LIMIT, SOFT_LIMIT, VISIBILITY_TIMEOUT, app, broker_url
from tests.controlplane.stack import Stack, stack
from tests.processes import start_valkey, wait_until

QUICK_BEAT = """
from controlplane.celery import app
app.conf.beat_schedule = {"quick": {"task": "tools.tasks.prune_journal", "schedule": 1}}
app.Beat(quiet=True).run()
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("unix://me:secret@/run/redis.sock", "redis+socket://me:secret@/run/redis.sock"),
        ("redis://host:6379/2", "redis://host:6379/2"),
        ("rediss://:secret@host:6380/0", "rediss://:secret@host:6380/0"),
    ],
)
def test_redis_address_is_given_in_the_spelling_celery_reads(given: str, expected: str) -> None:
    assert broker_url(given) == expected


def test_only_json_is_accepted_and_times_are_utc() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == app.conf.result_serializer == "json"
    assert app.conf.enable_utc
    assert str(app.conf.timezone) == "UTC"


def test_task_of_a_dead_worker_is_given_back_only_after_it_must_have_ended() -> None:
    assert SOFT_LIMIT < HARD_LIMIT < VISIBILITY_TIMEOUT
    assert app.conf.broker_transport_options["visibility_timeout"] == VISIBILITY_TIMEOUT
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost


def test_every_scheduled_task_exists_and_leaves_no_result() -> None:
    app.loader.import_default_modules()
    names = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert names <= set(app.tasks)
    # Nobody reads the results, and the beat would listen for each of them for ever.
    assert all(app.tasks[name].ignore_result for name in names)


def test_threads_send_through_this_application() -> None:
    found: list[str] = []
    thread = Thread(target=lambda: found.append(celery.current_app.main))
    thread.start()
    thread.join()
    assert found == [app.main]


@pytest.fixture
def beat() -> Iterator[tuple[Stack, subprocess.Popen[bytes]]]:
    """A beat with a quick schedule, in a folder where no Redis runs yet."""
    with stack() as made:
        made.paths.create()
        with (made.folder / "beat.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", QUICK_BEAT],
                env=dict(made.environment),
                stdout=log,
                stderr=log,
            )
        yield made, process
        process.kill()
        process.wait()


def test_beat_started_before_redis_sends_once_redis_is_there(
    beat: tuple[Stack, subprocess.Popen[bytes]],
) -> None:
    made, process = beat
    log = made.folder / "beat.log"
    wait_until(lambda: "Connection error" in log.read_text(), 30, "a beat that misses Redis")
    server = start_valkey(made.paths.redis_dir, made.paths.redis_socket)
    try:
        with redis.Redis(unix_socket_path=str(made.paths.redis_socket)) as client:
            wait_until(lambda: int(client.llen("controlplane")) > 0, 30, "a message in the queue")
        assert process.poll() is None
    finally:
        server.terminate()
        server.wait(10)


def test_a_worker_loads_no_page() -> None:
    loading = (
        "import sys, controlplane.celery\n"
        "controlplane.celery.app.loader.import_default_modules()\n"
        "print('tools.tasks' in sys.modules, 'controlplane.urls' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", loading],
        env={"DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "True False"
