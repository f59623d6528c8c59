"""Calls as tasks, over the MCP door, with a real worker."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tests.tools.mcp_server.task_client import EXTENSION, TaskClient
from tests.workers import Worker, celery_worker
from tools.execution.runtime import current
from tools.guards.call_tasks import workers
from tools.models import Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
MISSING: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


@pytest.fixture
def client(door: RestDoor) -> TaskClient:
    return TaskClient(door)


@pytest.fixture
def worker(door: RestDoor, tmp_path: Path) -> Iterator[Worker]:
    """A worker with two processes, on the same database and Redis as the door."""
    with celery_worker(tmp_path / "worker.log") as started:
        yield started


@pytest.fixture
def slow() -> Tool:
    """A tool that may take long and may run twice."""
    return make_tool(name="slow", long_running=True, idempotent=True, input_schema=SCHEMA)


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_long_call_is_answered_with_a_task_that_later_has_the_result(
    client: TaskClient, slow: Tool, worker: Worker, tmp_path: Path
) -> None:
    arguments = {"n": 1, "delay": 1, "reports": "reading", "trace": str(tmp_path / "trace")}
    created = client.call("slow", arguments)
    assert created["resultType"] == "task"
    assert created["status"] == "working"
    assert created["ttlMs"] == (600 + 40 + 3600) * 1000
    assert created["pollIntervalMs"] == 1000
    assert not {"task", "result", "error", "ttl", "pollInterval", "requestState"} & set(created)
    working = client.get(created["taskId"])
    assert {name: working[name] for name in ("resultType", "status", "taskId")} == {
        "resultType": "complete",
        "status": "working",
        "taskId": created["taskId"],
    }
    wait_until(
        lambda: client.get(created["taskId"]).get("statusMessage") == "1 of 2: reading",
        what="progress of the task",
    )
    done = client.wait(created["taskId"])
    assert done["status"] == "completed"
    assert done["result"]["structuredContent"] == {"echo": arguments}
    assert json.loads(done["result"]["content"][0]["text"]) == {"echo": arguments}
    assert done["result"]["isError"] is False
    assert done["lastUpdatedAt"] > created["createdAt"]
    assert lines(tmp_path / "trace") == ["started"]
    row = row_of(created["_meta"]["request_id"])
    assert done["result"]["_meta"]["request_id"] == str(row.request_id)
    assert (row.transport, row.caller, row.status) == (
        "streamable_http",
        "address:127.0.0.1",
        "success",
    )


def test_failures_of_the_tool_are_results_and_failures_of_the_service_are_errors(
    client: TaskClient, slow: Tool, worker: Worker
) -> None:
    refused, broken = (
        client.begin("slow", {"fail": "upstream"}),
        client.begin("slow", {"fail": "bug"}),
    )
    done = client.wait(refused)
    assert done["status"] == "completed"
    assert done["result"]["isError"] is True
    error = done["result"]["structuredContent"]["error"]
    assert error["message"] == "the upstream failed on command"
    failed = client.wait(broken)
    assert failed["status"] == "failed"
    assert "result" not in failed
    assert failed["error"]["code"] == -32603
    assert failed["error"]["data"]["request_id"]
    assert failed["statusMessage"] == failed["error"]["message"]
    assert "hunter2" not in json.dumps(failed)


def test_tool_that_takes_too_long_as_a_task_ends_at_its_own_limit(
    client: TaskClient, worker: Worker
) -> None:
    make_service(server_timeout=1)
    make_tool(name="slow", long_running=True, timeout_seconds=3)
    within, beyond = client.begin("slow", {"delay": 2}), client.begin("slow", {"delay": 30})
    assert client.wait(within)["result"]["isError"] is False
    error = client.wait(beyond)["result"]["structuredContent"]["error"]
    assert error["message"] == "slow did not finish within 3 s"


def test_only_clients_that_declare_tasks_get_them_and_only_for_long_tools(
    client: TaskClient, slow: Tool, backend: FakeBackend
) -> None:
    make_tool(name="quick")
    plain = client.call("slow", {"n": 1}, declare=False)
    legacy = {"name": "quick", "arguments": {}, "task": {"ttl": 60_000, "pollInterval": 100}}
    quick = client.result("tools/call", legacy)
    for answer in (plain, quick):
        assert answer["resultType"] == "complete"
        assert "taskId" not in answer
    assert backend.calls == {"slow": 1, "quick": 1}
    offered = client.result("server/discover", {})["capabilities"]
    assert offered["extensions"] == {EXTENSION: {}}
    assert "tasks" not in offered


def test_tool_that_runs_only_as_a_task_is_refused_to_others(
    client: TaskClient, backend: FakeBackend
) -> None:
    make_tool(name="strict", long_running=True, metadata={"task_required": True})
    error = client.error("tools/call", {"name": "strict", "arguments": {}}, declare=False)
    assert (error["code"], error["data"]) == (-32021, MISSING)
    assert client.begin("strict", {})
    assert backend.calls == {}


def test_bad_calls_are_refused_at_once_and_logged(client: TaskClient, slow: Tool) -> None:
    answer = client.call("slow", {"n": "one"})
    assert answer["resultType"] == "complete"
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["data"]["parameter"] == "n"
    assert row_of(answer["_meta"]["request_id"]).code == "INVALID_ARGUMENTS"
    assert client.error("tools/call", {"name": "slower", "arguments": {}})["code"] == -32602


def test_messages_about_tasks_are_checked(client: TaskClient, slow: Tool) -> None:
    task_id = client.begin("slow", {})
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        params: dict[str, Any] = {"taskId": task_id, "inputResponses": {}}
        assert client.error(method, params, declare=False)["data"] == MISSING
        assert client.error(method, params, headers={"Mcp-Name": "other"})["code"] == -32020
        unknown = {**params, "taskId": "00000000-0000-4000-8000-000000000000"}
        assert client.error(method, unknown)["code"] == -32602
        assert client.error(method, {**params, "taskId": "nonsense"})["code"] == -32602
    answered = client.answer(task_id, {"x": {}})
    assert answered["resultType"] == "complete"
    assert set(answered) == {"resultType", "_meta"}
    news = {"notifications": {"taskIds": [task_id]}}
    assert client.error("subscriptions/listen", news, declare=False)["data"] == MISSING
    for method in ("tasks/result", "tasks/list"):
        assert client.error(method, {"taskId": task_id})["code"] == -32601


def test_run_asks_its_caller_and_goes_on_with_the_answers(
    door: RestDoor, slow: Tool, worker: Worker
) -> None:
    client = TaskClient(door, elicitation={})
    task_id = client.begin("slow", {"asks": ["name", "day"]})
    for name, value in (("name", "Ann"), ("day", "Monday")):
        wait_until(
            lambda name=name: any(  # type: ignore[misc]
                key.endswith(name) for key in client.get(task_id).get("inputRequests", {})
            ),
            what=f"a question for {name}",
        )
        waiting = client.get(task_id)
        assert waiting["status"] == "input_required"
        ((key, request),) = waiting["inputRequests"].items()
        assert request["method"] == "elicitation/create"
        assert client.answer(task_id, {"other": {}})["resultType"] == "complete"
        assert client.get(task_id)["status"] == "input_required"
        client.answer(task_id, {key: {"action": "accept", "content": {name: value}}})
    done = client.wait(task_id)
    assert done["result"]["structuredContent"] == {"given": ["Ann", "Monday"]}
    assert "inputRequests" not in done


def test_client_that_cannot_be_asked_is_not_asked(
    client: TaskClient, slow: Tool, worker: Worker
) -> None:
    deferred = client.wait(client.begin("slow", {"asks": ["name"]}))["result"]
    direct = client.call("slow", {"asks": ["name"]}, declare=False)
    assert deferred["isError"] is direct["isError"] is True
    messages = [answer["structuredContent"]["error"]["message"] for answer in (deferred, direct)]
    assert "did not declare elicitation/create" in messages[0]
    assert "only do in a task" in messages[1]


def test_task_belongs_to_its_caller(door: RestDoor, slow: Tool) -> None:
    make_service(security_api_keys_enabled=True)
    granted = make_toolset(slug="granted", tools=[slow])
    mine, other = (TaskClient(door, make_client(toolsets=[granted])[1]) for _ in range(2))
    task_id = mine.begin("slow", {"n": 1})
    assert mine.get(task_id)["status"] == "working"
    assert other.error("tasks/get", {"taskId": task_id})["code"] == -32602
    assert other.error("tasks/cancel", {"taskId": task_id})["code"] == -32602
    assert mine.get(task_id)["status"] == "working"


def test_neither_key_nor_arguments_outlive_the_task_in_redis(
    door: RestDoor, slow: Tool, redis_url: str, worker: Worker
) -> None:
    make_service(security_api_keys_enabled=True)
    caller, key = make_client(toolsets=[make_toolset(tools=[slow])])
    client = TaskClient(door, key)
    task_id = client.begin("slow", {"delay": 1, "result": 1, "word": "confidential"})
    with redis.Redis.from_url(redis_url) as store:
        held: dict[bytes, bytes] = store.hgetall(f"cp:task:{task_id}")
        assert key not in str(held)
        assert "confidential" in str(held)
        assert client.wait(task_id)["result"]["structuredContent"] == {"result": 1}
        assert "confidential" not in str(store.hgetall(f"cp:task:{task_id}"))
    wait_until(lambda: [row.caller for row in rows()] == [f"client:{caller.pk}"], what="the row")


def test_key_switched_off_before_the_run_runs_nothing(
    door: RestDoor, slow: Tool, tmp_path: Path
) -> None:
    make_service(security_api_keys_enabled=True)
    toolset = make_toolset(tools=[slow])
    (revoked, first_key), (_, second_key) = (make_client(toolsets=[toolset]) for _ in range(2))
    client = TaskClient(door, first_key)
    trace = tmp_path / "trace"
    created = client.call("slow", {"trace": str(trace)})
    assert created["resultType"] == "task"
    revoked.enabled = False
    revoked.save()
    with celery_worker(tmp_path / "worker.log"):
        row = row_of(created["_meta"]["request_id"])
        other = TaskClient(door, second_key)
        assert other.wait(other.begin("slow", {"n": 2}))["status"] == "completed"
    assert (row.code, row.caller) == ("INVALID_ARGUMENTS", f"client:{revoked.pk}")
    assert lines(trace) == []


def test_tool_taken_away_before_the_run_is_not_found(
    client: TaskClient, slow: Tool, tmp_path: Path
) -> None:
    task_id = client.begin("slow", {"trace": str(tmp_path / "trace")})
    slow.enabled = False
    slow.save()
    with celery_worker(tmp_path / "worker.log"):
        failed = client.wait(task_id)
    assert (failed["status"], failed["error"]["code"]) == ("failed", -32602)
    assert lines(tmp_path / "trace") == []


def test_cancelling_stops_the_work_within_a_second_and_is_logged(
    client: TaskClient, slow: Tool, worker: Worker, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    created = client.call("slow", {"delay": 20, "trace": str(trace)})
    task_id = created["taskId"]
    wait_until(lambda: lines(trace) == ["started"], what="a running backend")
    answer = client.cancel(task_id)
    assert set(answer) == {"resultType", "_meta"}
    assert client.get(task_id)["status"] == "cancelled"
    wait_until(lambda: lines(trace) == ["started", "cancelled"], 1, "a cancelled backend")
    row = row_of(created["_meta"]["request_id"])
    assert (row.state, row.error) == ("failed", "The caller went away")
    assert client.cancel(task_id)["resultType"] == "complete"
    # The worker is free again at once.
    assert client.wait(client.begin("slow", {}), 5)["status"] == "completed"


def test_task_cancelled_before_it_started_never_starts_and_is_logged(
    client: TaskClient, slow: Tool, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    created = client.call("slow", {"trace": str(trace)})
    client.cancel(created["taskId"])
    row = row_of(created["_meta"]["request_id"])
    assert (row.state, row.error) == ("failed", "The task was cancelled before it ran")
    with celery_worker(tmp_path / "worker.log", 1):
        # One process takes one after the other.
        assert client.wait(client.begin("slow", {}))["status"] == "completed"
    assert lines(trace) == []
    assert client.get(created["taskId"])["status"] == "cancelled"


def test_task_whose_process_is_killed_is_run_again(
    client: TaskClient, slow: Tool, worker: Worker, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    task_id = client.begin("slow", {"delay": 2, "trace": str(trace)})
    wait_until(lambda: lines(trace) == ["started"], what="a running backend")
    for child in worker.children():
        os.kill(child, signal.SIGKILL)
    assert client.wait(task_id, 60)["status"] == "completed"
    assert lines(trace) == ["started", "started"]


def test_task_of_a_killed_worker_is_taken_up_by_another(
    client: TaskClient, slow: Tool, worker: Worker, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    task_id = client.begin("slow", {"delay": 2, "trace": str(trace)})
    wait_until(lambda: lines(trace) == ["started"], what="a running backend")
    worker.kill()
    with celery_worker(tmp_path / "second.log"):
        assert client.wait(task_id, 60)["status"] == "completed"
    assert lines(trace) == ["started", "started"]


def test_task_that_must_not_run_twice_fails_when_its_worker_is_killed(
    client: TaskClient, worker: Worker, tmp_path: Path
) -> None:
    make_tool(name="once", long_running=True, destructive=True)
    trace = tmp_path / "trace"
    task_id = client.begin("once", {"delay": 20, "trace": str(trace)})
    wait_until(lambda: lines(trace) == ["started"], what="a running backend")
    worker.kill()
    failed = client.wait(task_id, 60)
    assert failed["status"] == "failed"
    assert failed["error"]["message"] == "The worker that ran the task was lost"
    with celery_worker(tmp_path / "second.log"):
        assert client.wait(client.begin("once", {}))["status"] == "completed"
    assert lines(trace) == ["started"]


def test_task_is_read_after_the_web_process_was_replaced(
    door: RestDoor, client: TaskClient, slow: Tool, worker: Worker
) -> None:
    finished, running = client.begin("slow", {"n": 1}), client.begin("slow", {"n": 2, "delay": 2})
    client.wait(finished)
    door.stop()
    assert client.get(finished)["result"]["structuredContent"] == {"echo": {"n": 1}}
    assert client.wait(running)["result"]["structuredContent"]["echo"]["n"] == 2


def test_twenty_tasks_at_once_all_end_with_their_own_results(
    client: TaskClient, slow: Tool, worker: Worker
) -> None:
    client.result("server/discover", {})
    with ThreadPoolExecutor(20) as pool:
        ids = list(pool.map(lambda n: client.begin("slow", {"n": n, "delay": 0.2}), range(20)))
        done = list(pool.map(lambda task_id: client.wait(task_id, 60), ids))
    assert [task["result"]["structuredContent"]["echo"]["n"] for task in done] == list(range(20))
    wait_until(lambda: len(rows()) == 20 and all(row.status for row in rows()), what="20 rows")


def test_caller_with_too_many_open_tasks_is_told_to_wait(
    client: TaskClient, slow: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.result("server/discover", {})
    monkeypatch.setattr(current().tasks, "most_open", 2)
    task_id, _ = client.begin("slow", {}), client.begin("slow", {})
    refused = client.call("slow", {})
    assert refused["isError"] is True
    error = refused["structuredContent"]["error"]
    assert (error["message"], error["data"]["retry_after"]) == ("More than 2 open tasks", 1)
    assert row_of(refused["_meta"]["request_id"]).code == "RATE_LIMITED"
    client.cancel(task_id)
    assert client.begin("slow", {})


def test_long_result_is_shortened_and_the_whole_stays_readable(
    client: TaskClient, worker: Worker
) -> None:
    make_tool(name="slow", long_running=True, requires_context_management=True)
    entries = [{"id": number, "text": "x" * 40} for number in range(500)]
    done = client.wait(client.begin("slow", {"result": entries}))
    meta: dict[str, Any] = done["result"]["_meta"]
    assert meta["budget"]["applied"] is True
    whole = client.result(
        "resources/read",
        {"uri": f"result://{meta['request_id']}"},
        headers={"Mcp-Name": f"result://{meta['request_id']}"},
    )
    assert json.loads(whole["contents"][0]["text"]) == entries


def test_task_no_worker_takes_in_time_fails_and_is_logged(
    client: TaskClient, slow: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.result("server/discover", {})
    monkeypatch.setattr(current().tasks, "start_seconds", 0.5)
    created = client.call("slow", {})
    failed = client.wait(created["taskId"])
    assert failed["error"]["code"] == -32603
    assert failed["error"]["message"] == "No worker took the task within 0.5 s"
    row = row_of(created["_meta"]["request_id"])
    assert (row.state, row.code) == ("failed", "SERVICE_UNAVAILABLE")


def test_expired_task_is_not_found(client: TaskClient, slow: Tool, redis_url: str) -> None:
    task_id = client.begin("slow", {})
    with redis.Redis.from_url(redis_url) as store:
        store.pexpire(f"cp:task:{task_id}", 1)
    wait_until(lambda: "error" in client.send("tasks/get", {"taskId": task_id}).json())
    error = client.error("tasks/get", {"taskId": task_id})
    assert (error["code"], error["message"]) == (-32602, "Task not found")


def test_call_that_cannot_be_handed_to_a_worker_runs_at_once(
    client: TaskClient,
    slow: Tool,
    backend: FakeBackend,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(task_id: str, run_seconds: float) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(workers, "send", broken)
    answer = client.call("slow", {"n": 1})
    assert answer["structuredContent"] == {"echo": {"n": 1}}
    assert backend.calls == {"slow": 1}
    with redis.Redis.from_url(redis_url) as store:
        assert list(store.keys("cp:task:*")) == []
        assert store.zcard("cp:tasks:index") == 0
