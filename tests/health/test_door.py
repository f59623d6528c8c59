"""The built-in tools, health and metrics through the real door."""

from __future__ import annotations

from typing import Any

from tests.doors import RestDoor
from tests.processes import wait_until
from tools.backends import server_metrics, statistics
from tools.backends.rag_tools import TECHNIQUES
from tools.services.seed_demo import seed_demo


def seeded(door: RestDoor) -> RestDoor:
    seed_demo(servers=False)
    statistics.forget()
    server_metrics.forget()
    return door


def test_a_call_reaches_the_figures_and_the_counters_through_the_journal(door: RestDoor) -> None:
    # S3-068, F0-14, S4-081
    first = seeded(door).call("server_metrics").json()
    assert first["success"] is True
    assert first["data"]["calls"]["total"] == 0
    assert first["data"]["state"] in {"HEALTHY", "DEGRADED"}
    assert first["data"]["in_flight"] >= 1

    def logged() -> bool:
        data = door.call("server_metrics").json()["data"]
        return bool(data["busiest_tools"].get("server_metrics"))

    wait_until(logged, what="the call in the figures")
    counter = 'controlplane_calls_total{code="",status="success",tool="server_metrics"}'
    wait_until(lambda: counter in door.get("/metrics").text, what="the call in the counters")


def test_the_health_tool_and_the_health_address_agree(door: RestDoor) -> None:
    # S0-065, S3-052, F0-14
    seeded(door)
    # Until the first measurement has ended, nothing is known of anything.
    wait_until(lambda: "redis" in door.get("/health").json()["dependencies"], what="a report")
    told = door.call("rag_health_check", {"include_details": True}).json()["data"]
    answer = door.get("/health")
    assert answer.status_code == 200
    assert set(told["details"]["dependencies"]) == set(answer.json()["dependencies"])
    assert told["database_status"]["connected"] is True
    assert answer.json()["dependencies"]["database"]["status"] == "connected"


def test_every_pipeline_is_told_of(door: RestDoor) -> None:
    # S0-070, S0-071
    seeded(door)

    def told() -> dict[str, Any]:
        return dict(door.call("rag_health_check").json()["data"]["pipeline_statuses"])

    wait_until(lambda: set(told()) == set(TECHNIQUES), 60, "six pipelines")
    assert set(door.get("/health/pipelines").json()["pipelines"]) == set(TECHNIQUES)
    for one in told().values():
        assert {"status", "last_success", "error_rate"} <= set(one)
        # Nothing was ingested, so that they say nothing of the service.
        assert (one["status"], one["counted"]) == ("unavailable", False)


def test_a_range_that_is_not_offered_is_refused_before_anything_runs(door: RestDoor) -> None:
    # F0-11
    answer = seeded(door).call("rag_metrics", {"time_range": "2h"})
    assert answer.status_code == 400
    assert answer.json()["code"] == "INVALID_ARGUMENTS"
    assert seeded(door).call("rag_metrics").json()["data"]["time_range"] == "1h"
