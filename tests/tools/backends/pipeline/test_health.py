"""The health of a pipeline, by a test query through a real worker."""

from __future__ import annotations

from typing import Any

from tests.doors import RestDoor
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import StartWorker
from tests.tools.backends.pipeline.rows import make_trial
from tests.workers import Worker
from tools.models import ToolRequest


def pipeline(door: RestDoor) -> dict[str, Any]:
    found: dict[str, Any] = door.get("/health/pipelines").json()["pipelines"].get("rag_trial", {})
    return found


# First: the worker of the others stays for all of them.
def test_without_a_worker_it_is_unavailable_until_one_is_there(
    door: RestDoor, start_worker: StartWorker
) -> None:
    # S0-062, S0-068, F0-22
    make_trial()
    reason = "No worker for pipelines is running"
    wait_until(lambda: pipeline(door).get("error") == reason, 60, "word of it")
    assert pipeline(door)["status"] == "unavailable"
    assert door.get("/health").status_code == 503
    start_worker(1)
    wait_until(lambda: pipeline(door)["status"] == "healthy", 60, "its recovery")
    assert door.get("/health").json()["status"] in {"healthy", "degraded"}


def test_a_pipeline_is_asked_a_real_question_that_is_in_no_log(
    door: RestDoor, worker: Worker
) -> None:
    # F0-14, S0-070, S0-072: measured, never a constant
    make_trial()
    wait_until(lambda: pipeline(door).get("status") == "healthy", 60, "a healthy pipeline")
    found = pipeline(door)
    assert found["canary_ms"] >= 0
    assert (found["last_success"], found["error_rate"], found["counted"]) == (None, 0.0, True)
    assert ToolRequest.objects.count() == 0
    assert door.call("rag_trial", {"query": "moon?"}).status_code == 200


def test_failing_queries_of_callers_degrade_it(door: RestDoor, worker: Worker) -> None:
    # S0-062, S0-015
    make_trial()
    wait_until(lambda: pipeline(door).get("status") == "healthy", 60, "a healthy pipeline")
    for _ in range(3):
        assert door.call("rag_trial", {"query": "moon?", "bug": True}).status_code >= 500
    wait_until(lambda: pipeline(door)["status"] == "degraded", 90, "word of the failures")
    assert "queries failed" in pipeline(door)["error"]
    assert pipeline(door)["error_rate"] > 0
