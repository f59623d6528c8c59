"""The limits of pipelines, seen in the workers that run their queries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import StartWorker
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.backends.pipeline.traces import ended, most_at_once, pids


def _answers(door: RestDoor) -> bool:
    return door.call("rag_trial", {"query": "ready?"}).status_code == 200


@pytest.mark.parametrize("workers", [1, 2])
def test_no_more_queries_run_at_once_than_the_limit_over_all_workers(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path, workers: int
) -> None:
    # S0-058 C09
    trace, let_go = tmp_path / "trace", tmp_path / "let-go"
    pipeline = make_trial(max_concurrent_queries=5)
    pipeline.tool.queue_timeout_seconds = 60
    pipeline.tool.save()
    started = [start_worker(6 // workers) for _ in range(workers)]
    arguments = {"query": "moon?", "until": str(let_go), "trace": str(trace)}
    wait_until(lambda: _answers(door), 30, "a warm process")
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(door.call, "rag_trial", arguments) for _ in range(20)]
        wait_until(lambda: len(pids(trace)) == 5, what="as many queries as may run")
        let_go.touch()
        assert [call.result().status_code for call in asked] == [200] * 20
    assert (len(pids(trace)), most_at_once(trace)) == (20, 5)
    children = {child for worker in started for child in worker.children()}
    assert set(pids(trace)) <= children


def test_queries_that_wait_too_long_are_refused_with_a_time_to_come_back(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    # S0-058 C09
    trace = tmp_path / "trace"
    pipeline = make_trial(max_concurrent_queries=1)
    pipeline.tool.queue_timeout_seconds = 1
    pipeline.tool.save()
    start_worker(2)
    arguments = {"query": "moon?", "delay": 2.5, "trace": str(trace)}
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(door.call, "rag_trial", arguments)
        wait_until(lambda: len(pids(trace)) == 1, what="a running query")
        refused = door.call("rag_trial", {"query": "moon?"})
        assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
        assert int(refused.headers["Retry-After"]) >= 1
        assert running.result().status_code == 200
    assert most_at_once(trace) == 1


@pytest.mark.parametrize("stubborn", [False, True])
def test_query_that_overruns_is_told_at_its_limit_and_frees_its_slot_and_process(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path, stubborn: bool
) -> None:
    # S0-059 C10
    trace = tmp_path / "trace"
    # Long enough for a busy machine to begin, short enough to wait for.
    make_trial(timeout_seconds=3, max_concurrent_queries=1)
    worker = start_worker(1)
    wait_until(lambda: _answers(door), 30, "a warm process")
    (process,) = worker.children()
    arguments: dict[str, Any] = {"query": "moon?", "delay": 30, "trace": str(trace)}
    late = door.call("rag_trial", {**arguments, "stubborn": stubborn})
    assert (late.status_code, late.json()["code"]) == (504, "TIMEOUT")
    assert late.json()["error"] == "rag_trial did not finish within 3 s"
    assert pids(trace) == [process]
    # A process that listens stays; one that does not is killed and replaced.
    wait_until(lambda: _answers(door), what="a free process")
    assert (worker.children() == [process]) is not stubborn
    assert ended(trace) == (0 if stubborn else 1)


def test_query_that_never_got_a_process_is_not_run_after_its_deadline(
    door: RestDoor, start_worker: StartWorker, tmp_path: Path
) -> None:
    trace, unrun = tmp_path / "trace", tmp_path / "unrun"
    make_trial(timeout_seconds=2, max_concurrent_queries=2)
    start_worker(1)
    wait_until(lambda: _answers(door), 30, "a warm process")
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(
            door.call,
            "rag_trial",
            {"query": "a", "delay": 30, "stubborn": True, "trace": str(trace)},
        )
        wait_until(lambda: len(pids(trace)) == 1, what="a running query")
        waiting = pool.submit(door.call, "rag_trial", {"query": "b", "trace": str(unrun)})
        assert [one.result().status_code for one in (running, waiting)] == [504, 504]
    wait_until(lambda: _answers(door), what="a free process")
    assert pids(unrun) == []
