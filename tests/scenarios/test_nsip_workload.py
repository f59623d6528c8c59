"""A morning of agents at NSIP: what the cache saves, and what a failing API leaves alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_service, make_tool
from tests.nsip_flock import EWE, RAM, flock
from tests.nsip_server import BUSY, DROP, ERROR, GARBAGE, HANG, Fault, NsipServer, nsip_server
from tests.processes import wait_until
from tools.backends import server_metrics, statistics
from tools.contracts import ToolSource
from tools.models import ApiService, ToolRequest
from tools.services.seed_nsip import seed_nsip

Call = tuple[str, dict[str, Any]]


@pytest.fixture
def api() -> Iterator[NsipServer]:
    with nsip_server() as server:
        yield server


@pytest.fixture
def nsip(door: RestDoor, api: NsipServer) -> RestDoor:
    make_service(security_rate_limit=10_000)
    seed_nsip(enable=True, base_url=api.url)
    ApiService.objects.update(allowed_networks=["127.0.0.1/32"], retries=0, timeout_seconds=2)
    return door


def morning() -> Iterator[Call]:
    """Four agents, each looking at the breeds, then at some of the same animals."""
    animals = [EWE, RAM, *sorted(flock().animals)[:6]]
    for agent in range(4):
        yield "nsip_list_breeds", {}
        yield "nsip_get_statuses", {}
        yield "nsip_search_animals", {"breed_id": 640, "page": 1 + agent // 2}
        for animal in animals[agent : agent + 4]:
            yield "nsip_get_animal", {"search_string": animal}
        yield "nsip_get_lineage", {"lpn_id": EWE}


def test_a_replay_of_repeated_calls_meets_the_criterion(nsip: RestDoor, api: NsipServer) -> None:
    # S4-079 F4-11
    make_tool(name="server_metrics", source=ToolSource.BUILTIN.value, handler="server_metrics")
    calls = list(morning())
    assert all(nsip.call(*one).json()["success"] for one in calls)
    distinct = {json.dumps(one, sort_keys=True) for one in calls}
    assert api.calls.total() == len(distinct)
    wait_until(
        lambda: ToolRequest.objects.filter(state="completed").count() == len(calls),
        what="the rows of all calls",
    )
    server_metrics.forget()
    statistics.forget()
    figures = nsip.call("server_metrics", {}).json()["data"]
    assert figures["cache"]["misses"] == len(distinct)
    assert figures["cache"]["hit_rate"] == pytest.approx(100 * (1 - len(distinct) / len(calls)))
    assert figures["cache"]["hit_rate"] >= 40
    assert figures["success_criteria"]["SC-006"] is True


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (BUSY, 429, "RATE_LIMITED"),
        (HANG, 500, "EXECUTION_ERROR"),
        (ERROR, 500, "EXECUTION_ERROR"),
        (GARBAGE, 500, "EXECUTION_ERROR"),
        (DROP, 500, "EXECUTION_ERROR"),
    ],
)
def test_a_failing_api_has_its_code_and_leaves_other_tools_alone(
    nsip: RestDoor, api: NsipServer, fault: Fault, status: int, code: str
) -> None:
    # S4-061 S4-088 F4-22 F4-24
    make_tool(name="echo")
    nsip.start()
    api.fail(fault)
    with ThreadPoolExecutor(8) as pool:
        failing = [pool.submit(nsip.call, "nsip_get_statuses", {}) for _ in range(4)]
        others = [pool.submit(nsip.call, "echo", {"n": number}) for number in range(40)]
        assert {one.result().status_code for one in others} == {200}
        if fault is HANG:
            # All the others were answered while these still wait.
            assert not any(one.done() for one in failing)
        answers = [one.result() for one in failing]
    assert {(one.status_code, one.json()["code"]) for one in answers} <= {
        (status, code),
        (503, "SERVICE_UNAVAILABLE"),
    }
    assert (answers[0].status_code, answers[0].json()["code"]) == (status, code)


def test_an_api_that_keeps_failing_is_left_alone(nsip: RestDoor, api: NsipServer) -> None:
    # F4-24
    api.fail(ERROR)
    codes = [nsip.call("nsip_get_statuses", {}).json()["code"] for _ in range(12)]
    assert codes[-1] == "SERVICE_UNAVAILABLE"
    assert api.calls.total() < 12
