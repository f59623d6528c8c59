"""Workers, and Redis, that go away in the middle of a query."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis
from django.conf import settings

from tests.doors import RestDoor
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import StartWorker, managing
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.backends.pipeline.traces import ended, pids


class Asked:
    """A query that is being answered elsewhere."""

    def __init__(self, door: RestDoor, trace: Path, **arguments: Any) -> None:
        self._trace = trace
        self._pool = ThreadPoolExecutor(1)
        given = {"query": "moon?", "trace": str(trace), **arguments}
        door.client.get("/tools")
        self.answer: Future[httpx2.Response] = self._pool.submit(door.call, "rag_trial", given)

    def wait_until_running(self, runs: int = 1) -> int:
        wait_until(lambda: len(pids(self._trace)) >= runs, what="a running query")
        return pids(self._trace)[-1]


@pytest.mark.parametrize("workers", [1, 2])
def test_query_of_a_killed_process_is_run_once_more(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path, workers: int
) -> None:
    make_trial()
    started = [start_worker(1) for _ in range(workers)]
    trace = tmp_path / "trace"
    asked = Asked(door, trace, delay=2)
    os.kill(asked.wait_until_running(), signal.SIGKILL)
    answer = asked.answer.result()
    assert answer.status_code == 200
    assert len(pids(trace)) == 2
    assert answer.json()["data"]["metadata"]["pid"] == pids(trace)[1]
    assert all(worker.process.poll() is None for worker in started)


def test_query_that_kills_every_process_is_given_up_after_the_second(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial()
    worker = start_worker(1)
    trace = tmp_path / "trace"
    failed = door.call("rag_trial", {"query": "moon?", "crash": "always", "trace": str(trace)})
    assert (failed.status_code, failed.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert failed.json()["error"] == "The worker that ran rag_trial was lost"
    assert failed.headers["Retry-After"] == "1"
    assert len(pids(trace)) == 2
    assert door.call("rag_trial", {"query": "next?"}).status_code == 200
    assert worker.process.poll() is None


def test_query_of_a_killed_worker_is_taken_over_by_another(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial()
    workers = [start_worker(1), start_worker(1)]
    children = {worker.children()[0]: worker for worker in workers}
    trace = tmp_path / "trace"
    asked = Asked(door, trace, delay=2)
    children.pop(asked.wait_until_running()).kill()
    answer = asked.answer.result()
    assert answer.status_code == 200
    assert pids(trace)[1:] == list(children)


def test_query_of_the_only_worker_fails_before_its_deadline_when_that_is_killed(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial(timeout_seconds=60)
    worker = start_worker(1)
    asked = Asked(door, tmp_path / "trace", delay=50)
    asked.wait_until_running()
    worker.kill()
    answer = asked.answer.result(timeout=20)
    assert (answer.status_code, answer.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert answer.json()["error"] == "rag_trial cannot run now: no worker for pipelines is running"
    assert int(answer.headers["Retry-After"]) >= 1


def test_without_any_worker_it_is_said_soon_and_the_query_never_runs(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial(timeout_seconds=60)
    trace = tmp_path / "trace"
    refused = door.call("rag_trial", {"query": "moon?", "trace": str(trace)})
    assert (refused.status_code, refused.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert "no worker for pipelines is running" in refused.json()["error"]
    start_worker(1)
    assert door.call("rag_trial", {"query": "moon?"}).status_code == 200
    assert pids(trace) == []


def test_message_that_a_worker_took_along_when_it_was_killed_is_sent_again(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial()
    start_worker(1)
    busy = Asked(door, tmp_path / "busy", delay=3)
    busy.wait_until_running()
    asked = Asked(door, tmp_path / "trace")
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        # What a worker does that dies before it has handed the message to one of its processes.
        assert client.blpop(["rag.trial"], 20) is not None
    assert busy.answer.result().status_code == 200
    assert asked.answer.result().status_code == 200
    assert len(pids(tmp_path / "trace")) == 1


def test_worker_stops_when_the_process_that_asked_is_gone(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    make_trial()
    worker = start_worker(1)
    (process,) = worker.children()
    trace = tmp_path / "trace"
    arguments = {"query": "moon?", "delay": 50, "trace": str(trace)}
    with managing("call_tool", "rag_trial", json.dumps(arguments)) as asking:
        wait_until(lambda: pids(trace) == [process], 40, "a running query")
        asking.kill()
    wait_until(lambda: ended(trace) == 1, what="the end of the query")
    assert worker.children() == [process]
    assert door.call("rag_trial", {"query": "next?"}).status_code == 200
