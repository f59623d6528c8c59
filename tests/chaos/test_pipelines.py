"""kill -9 of the parts that a pipeline's query passes through, in a whole control plane."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.stack import Stack, stack
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import SETTINGS
from tests.tools.backends.pipeline.traces import pids

PREPARE = """
from tests.tools.backends.pipeline.rows import make_trial
make_trial(timeout_seconds=30, max_concurrent_queries=1)
"""
LOST = {
    "The worker that ran rag_trial was lost",
    "rag_trial cannot run now: no worker for pipelines is running",
    "Pipelines cannot be reached now: Redis is unavailable",
}


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    """A control plane with the trial pipeline and one process for queries."""
    environment = {"DJANGO_SETTINGS_MODULE": SETTINGS, "PIPELINE_CONCURRENCY": "1"}
    with stack(**environment) as made:
        made.up().wait_until_running()
        done = made.manage("shell", "--no-imports", "-c", PREPARE)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: ask(made)[0] == 200, 30, "the pipeline")
        yield made


def ask(made: Stack, **arguments: Any) -> tuple[int, Any]:
    return made.call("rag_trial", query="moon?", **arguments)


@pytest.mark.parametrize("victim", ["pipelines", "redis", "web"])
def test_killed_part_leaves_no_query_hanging_and_service_comes_back(
    running: Stack, tmp_path: Path, victim: str
) -> None:
    trace = tmp_path / "trace"
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(lambda: ask(running, delay=3, trace=str(trace)))
        wait_until(lambda: len(pids(trace)) == 1, what="a running query")
        os.kill(running.processes()[victim].pid, signal.SIGKILL)
        status, body = answer.result(25)
    # Answered, refused with a reason, or cut off with the process that served it.
    assert (status == 0) is (victim == "web")
    assert status in {0, 200} or (status == 503 and body["error"] in LOST), body
    assert len(pids(trace)) <= 2
    # The slot of the query, and the process that ran it, are free again.
    wait_until(lambda: ask(running)[0] == 200, 30, "an answer after the kill")
