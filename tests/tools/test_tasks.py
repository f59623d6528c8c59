"""What workers are told about calls that run as tasks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from controlplane.celery import VISIBILITY_TIMEOUT
from tests.controlplane.stack import MANAGE
from tests.doors import RestDoor
from tests.factories import make_tool
from tests.processes import wait_until
from tests.tools.mcp_server.task_client import TaskClient
from tests.workers import celery_worker
from tools.execution.deferred import LONGEST_RUN, RUN_MARGIN
from tools.services.asked_upstream import GRACE
from tools.tasks import CLAIM_SECONDS, KILL_SECONDS, look_at_upstream, send_look

SEND = """
import django
django.setup()
from tools.tasks import send_call
send_call("00000000-0000-4000-8000-000000000000", 1)
"""


def test_longest_run_is_over_before_its_message_is_given_to_another_worker() -> None:
    longest = LONGEST_RUN + RUN_MARGIN + CLAIM_SECONDS + KILL_SECONDS
    assert longest < VISIBILITY_TIMEOUT


def test_look_is_given_up_only_after_its_worker_has_been_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr(look_at_upstream, "apply_async", lambda given, **told: sent.update(told))
    send_look("1", 1, 30)
    assert sent["soft_time_limit"] < sent["time_limit"] <= 30 + GRACE


def test_process_without_a_broker_says_so_instead_of_looking_for_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEND], env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "RuntimeError: this process has no way to the workers" in done.stderr


def catalogue_in(database: Path) -> None:
    """A database of its own that holds the tools of the suite's."""
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{database}"}
    rows = database.with_suffix(".json")
    call_command("dumpdata", "tools.tool", "tools.catalogstate", output=str(rows))
    for arguments in (["migrate", "--verbosity", "0"], ["loaddata", str(rows)]):
        subprocess.run([*MANAGE, *arguments], env=environment, check=True, capture_output=True)


def test_worker_that_cannot_read_the_catalogue_runs_the_task_once_it_can(
    door: RestDoor, tmp_path: Path
) -> None:
    make_tool(name="slow", long_running=True)
    client = TaskClient(door)
    late, ready = tmp_path / "late.sqlite3", tmp_path / "ready.sqlite3"
    with celery_worker(tmp_path / "worker.log", DATABASE_URL=f"sqlite:///{late}") as worker:
        task_id = client.begin("slow", {"n": 1})
        wait_until(lambda: "no such table" in worker.output, what="a worker without a catalogue")
        assert client.get(task_id)["status"] == "working"
        catalogue_in(ready)
        ready.replace(late)
        assert client.wait(task_id)["status"] == "completed"
