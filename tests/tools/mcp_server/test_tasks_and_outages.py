"""Long calls while Redis is away, and tasks that outlive the processes of a running control plane."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from pytest_django import Settings

from tests.controlplane.stack import Stack, stack
from tests.doors import RestDoor
from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of
from tests.processes import wait_until
from tests.tools.guards.support import OwnValkey
from tests.tools.mcp_server.task_client import TaskClient
from tools.conf import deployment

MAKE_TOOL = """
from tests.factories import make_tool
make_tool(name='slow', long_running=True, idempotent=True)
"""


@pytest.fixture
def own_redis(settings: Settings) -> Iterator[OwnValkey]:
    """The Redis of the door, to be killed and hung."""
    server = OwnValkey()
    settings.REDIS_URL = server.url
    deployment.cache_clear()
    yield server
    server.resume()
    server.remove()
    deployment.cache_clear()


@pytest.fixture
def fragile(transactional_db: None, own_redis: OwnValkey) -> Iterator[TaskClient]:
    opened = RestDoor()
    yield TaskClient(opened)
    opened.stop()


@pytest.mark.parametrize("outage", ["kill", "pause"])
def test_without_redis_a_long_call_runs_at_once(
    fragile: TaskClient, own_redis: OwnValkey, backend: FakeBackend, outage: str
) -> None:
    make_tool(name="slow", long_running=True)
    fragile.result("server/discover", {})
    getattr(own_redis, outage)()
    answer = fragile.call("slow", {"n": 1})
    assert answer["resultType"] == "complete"
    assert answer["structuredContent"] == {"echo": {"n": 1}}
    assert row_of(answer["_meta"]["request_id"]).status == "success"
    error = fragile.error("tasks/get", {"taskId": "00000000-0000-4000-8000-000000000000"})
    assert (error["code"], error["data"]["retry_after"]) == (-32603, 1)


@dataclass
class StackDoor:
    """The web process of a stack."""

    client: httpx2.Client


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Stack, TaskClient]]:
    """A whole control plane with one long tool. It survives what is done to it: that is what is tested."""
    with stack() as made:
        made.up().wait_until_running()
        done = made.manage("shell", "--no-imports", "-c", MAKE_TOOL)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: made.call("slow")[0] == 200, what="the tool")
        with httpx2.Client(base_url=f"http://127.0.0.1:{made.port}", timeout=30) as client:
            yield made, TaskClient(StackDoor(client))


def test_outcome_is_handed_in_when_redis_is_back(running: tuple[Stack, TaskClient]) -> None:
    made, client = running
    trace = made.folder / "trace"
    task_id = client.begin("slow", {"delay": 1, "trace": str(trace)})
    wait_until(trace.exists, what="a running backend")
    server = made.processes()["redis"].pid
    os.kill(server, signal.SIGSTOP)
    try:
        wait_until(lambda: "goes on unseen" in made.log("worker"), what="a worker without Redis")
    finally:
        os.kill(server, signal.SIGCONT)
    wait_until(lambda: "result" in client.send("tasks/get", {"taskId": task_id}).json(), 30)
    assert client.wait(task_id)["result"]["isError"] is False
    assert trace.read_text().split() == ["started"]


def test_task_survives_the_death_of_every_process(running: tuple[Stack, TaskClient]) -> None:
    made, client = running
    task_id = client.begin("slow", {"n": 1, "delay": 4})
    wait_until(
        lambda: client.get(task_id)["lastUpdatedAt"] > client.get(task_id)["createdAt"],
        what="a task that runs",
    )
    finished = client.begin("slow", {"n": 2})
    client.wait(finished)
    for name in ("web", "worker", "redis"):
        os.kill(made.processes()[name].pid, signal.SIGKILL)
    wait_until(lambda: made.call("slow")[0] == 200, 30, "a serving control plane")
    wait_until(lambda: "result" in client.send("tasks/get", {"taskId": finished}).json(), 30)
    assert client.get(finished)["result"]["structuredContent"] == {"echo": {"n": 2}}
    assert client.wait(task_id, 60)["result"]["structuredContent"]["echo"]["n"] == 1
