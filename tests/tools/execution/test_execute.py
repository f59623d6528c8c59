"""The path as a whole, through the REST door: each stage is in place and in its order."""

from __future__ import annotations

import json
import logging
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
import redis
from django.conf import settings
from django.db import connection

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tools.models import ApiClient, Tool, ToolRequest

LONG_LIST = [
    {"id": number, "name": f"animal number {number}", "note": "x" * 40} for number in range(200)
]


def test_every_call_leaves_one_row_refusals_included(door: RestDoor, backend: FakeBackend) -> None:
    # F0-20 S2-033 S2-040 S2-041
    make_tool(
        name="echo", input_schema={"type": "object", "properties": {"n": {"type": "integer"}}}
    )
    make_service(security_rate_limit=10)
    ids = [door.call("echo", {"n": 1}).json()["request_id"]]
    ids.append(door.call("echo", {"n": "one"}).json()["request_id"])
    ids.append(door.call("missing", {}).json()["request_id"])
    ids.append(door.call("echo", {"fail": "bug"}).json()["request_id"])
    ids += [door.call("echo", {}).json()["request_id"] for _ in range(9)]
    found = [row_of(request_id) for request_id in ids]
    assert [row.code for row in found[:4]] == [
        "",
        "INVALID_ARGUMENTS",
        "TOOL_NOT_FOUND",
        "INTERNAL_ERROR",
    ]
    assert found[-1].code == "RATE_LIMITED"
    assert ToolRequest.objects.count() == len(ids)
    assert {row.state for row in found} == {"completed", "failed"}


def test_a_row_tells_the_call(door: RestDoor, backend: FakeBackend) -> None:
    # S0-019 S0-026 S0-028 S0-031 S2-034 S2-036 S2-037 S2-038
    make_tool(name="echo")
    body = door.call("echo", {"query": "how many sheep?", "top_k": 3}).json()
    row = row_of(body["request_id"])
    assert row.tool_id == "echo"
    assert row.query_text == "how many sheep?"  # T04
    assert row.parameters == {"query": "how many sheep?", "top_k": 3}
    assert row.transport == "rest"
    assert row.caller == "address:127.0.0.1"
    assert row.source == "http_api"
    assert row.duration_ms is not None
    assert row.duration_ms >= 0
    assert set(row.stages) == {"validation", "rate", "cache", "slot", "backend", "budget"}
    assert json.loads(row.response.body) == body["data"]
    assert str(row.response.response_id) == body["request_id"]  # S0-051


def test_secrets_reach_neither_the_journal_nor_the_log(
    door: RestDoor, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    # C12
    make_tool(name="echo")
    secret = "cp_" + "s" * 43
    with caplog.at_level(logging.INFO):
        body = door.call("echo", {"password": "hunter2", "text": f"use {secret}"}).json()
        row = row_of(body["request_id"])
    written = json.dumps(row.parameters) + row.response.body + caplog.text
    assert body["data"]["echo"]["password"] == "hunter2"
    assert "hunter2" not in json.dumps(row.parameters) + caplog.text
    assert secret not in written


def test_bodies_are_kept_up_to_the_cap_or_not_at_all(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    make_tool(name="quiet", keep_body=False)
    long = row_of(door.call("echo", {"result": "x" * 200_000}).json()["request_id"])
    assert long.response.truncated
    assert len(long.response.body) == 65536
    assert long.response_bytes == 200_002
    quiet = row_of(door.call("quiet", {}).json()["request_id"])
    assert not hasattr(quiet, "response")


def test_one_structured_line_is_logged_per_call(
    door: RestDoor, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    # S2-042 F2-08 S0-028 F3-03
    make_tool(name="echo")
    door.start()
    with caplog.at_level(logging.INFO, logger="tools.calls"):
        body = door.call("echo", {}).json()
    lines = [record for record in caplog.records if record.name == "tools.calls"]
    assert [line.getMessage() for line in lines] == ["MCP tool call completed"]
    fields = lines[0].__dict__["fields"]
    assert fields["request_id"] == body["request_id"]
    assert fields["tool_name"] == "echo"
    assert fields["status"] == "success"
    assert fields["duration"] >= 0


def test_a_second_call_within_the_ttl_does_not_reach_the_backend(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S4-020 S4-087
    make_tool(name="echo", cache_ttl_seconds=60)
    first = door.call("echo", {"b": 1, "a": 2}).json()
    second = door.call("echo", {"a": 2, "b": 1}).json()
    assert first["data"] == second["data"]
    assert (first["meta"]["cache_hit"], second["meta"]["cache_hit"]) == (False, True)
    assert backend.calls == {"echo": 1}
    assert row_of(second["request_id"]).cache_hit is True
    door.call("echo", {"a": 3})
    assert backend.calls == {"echo": 2}


def test_failures_are_not_cached(door: RestDoor, backend: FakeBackend) -> None:
    # T15
    make_tool(name="echo", cache_ttl_seconds=60)
    for _ in range(2):
        assert door.call("echo", {"fail": "execution"}).status_code == 500
    assert backend.calls == {"echo": 2}


def test_calls_that_ask_together_reach_the_backend_once(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", cache_ttl_seconds=60)
    door.start()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: door.call("echo", {"delay": 0.3}), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert backend.calls == {"echo": 1}


def test_the_call_too_many_waits_and_is_refused_with_retry_after(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S0-058 C09
    make_tool(name="echo", max_concurrent=2, queue_timeout_seconds=0)
    door.start()
    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(door.call, "echo", {"delay": 1.5}) for _ in range(2)]
        wait_until(lambda: backend.calls.get("echo") == 2, what="two running calls")
        refused = door.call("echo", {})
        done = [future.result() for future in running]
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) >= 1
    assert [answer.status_code for answer in done] == [200, 200]
    assert door.call("echo", {}).status_code == 200


def test_a_waiting_call_gets_the_slot_that_comes_free(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo", max_concurrent=1, queue_timeout_seconds=10)
    door.start()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: door.call("echo", {"delay": 0.1}), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4


def test_a_dependency_that_keeps_failing_is_left_alone(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S2-051 S2-052
    make_tool(name="echo", dependency="todo-server")
    make_tool(name="other", dependency="elsewhere")
    for _ in range(5):
        assert door.call("echo", {"fail": "transport"}).status_code == 503
    refused = door.call("echo", {})
    assert (refused.status_code, refused.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert 1 <= int(refused.headers["Retry-After"]) <= 30
    assert backend.calls == {"echo": 5}
    assert door.call("other", {}).status_code == 200  # S2-060


def test_a_tool_that_fails_on_its_own_does_not_open_the_breaker(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", dependency="todo-server")
    for _ in range(6):
        assert door.call("echo", {"fail": "execution"}).status_code == 500
    assert door.call("echo", {}).status_code == 200


def test_a_long_answer_is_cut_to_the_budget_and_stays_readable(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S4-033 S4-039 F4-07
    make_tool(name="echo", requires_context_management=True)
    make_tool(name="read_result", source="builtin", handler="read_result")
    body = door.call("echo", {"result": {"animals": LONG_LIST}}).json()
    budget = body["meta"]["budget"]
    assert budget["applied"] is True
    assert budget["tokens_before"] > 2000
    assert budget["tokens_after"] <= budget["tokens_before"] * 0.3
    row = row_of(body["request_id"])
    assert (row.tokens_before, row.tokens_after) == (
        budget["tokens_before"],
        budget["tokens_after"],
    )
    whole = []
    for page in range(1, 11):
        arguments = {**budget["full_result"]["arguments"], "pointer": "/animals", "page": page}
        whole += door.call("read_result", arguments).json()["data"]["items"]
    assert whole == LONG_LIST


def test_a_short_answer_passes_untouched(door: RestDoor, backend: FakeBackend) -> None:
    # S4-032 F4-16
    make_tool(name="echo", requires_context_management=True)
    body = door.call("echo", {"result": LONG_LIST[:5]}).json()
    assert body["data"] == {"result": LONG_LIST[:5]}
    assert row_of(body["request_id"]).tokens_before == row_of(body["request_id"]).tokens_after


def test_calls_are_served_while_the_catalogue_tables_are_away(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    _, key = make_client(toolsets=[make_toolset(includes_all=True)])
    headers = {"X-API-Key": key}
    assert door.call("echo", {}, headers=headers).status_code == 200
    tables = ("tools_tool", "tools_toolset", "tools_apiclient", "tools_serviceconfiguration")
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            answers = [door.call("echo", {}, headers=headers) for _ in range(5)]
            listings = [door.get("/tools", headers=headers) for _ in range(5)]
        finally:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert {answer.status_code for answer in answers + listings} == {200}


def test_a_caller_that_hangs_up_cancels_the_work(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo", max_concurrent=1, queue_timeout_seconds=0)
    request_id = str(uuid.uuid4())
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(
            f"{door.start().url}/call-tool",
            json={"tool": "echo", "arguments": {"delay": 20}, "request_id": request_id},
            timeout=0.5,
        )
    wait_until(lambda: backend.cancelled == 1, what="a cancelled backend")
    row = row_of(request_id)
    assert (row.state, row.code) == ("failed", "SERVICE_UNAVAILABLE")
    assert door.call("echo", {}).status_code == 200


@pytest.mark.parametrize("way", ["save", "update", "delete", "toolset"])
def test_a_change_in_the_catalogue_takes_effect_without_restart(
    door: RestDoor, backend: FakeBackend, way: str
) -> None:
    tool = make_tool(name="echo")
    toolset = make_toolset(tools=[tool])
    _, key = make_client(toolsets=[toolset])
    headers = {"X-API-Key": key}
    assert door.call("echo", {}, headers=headers).status_code == 200
    if way == "save":
        tool.enabled = False
        tool.save()
    elif way == "update":
        Tool.objects.filter(pk=tool.pk).update(enabled=False)
    elif way == "delete":
        tool.delete()
    else:
        toolset.tools.clear()
    wait_until(lambda: door.call("echo", {}, headers=headers).status_code == 404, timeout=1)


def test_a_switched_off_client_is_refused_within_a_second(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    client, key = make_client(toolsets=[make_toolset(includes_all=True)])
    assert door.call("echo", {}, headers={"X-API-Key": key}).status_code == 200
    ApiClient.objects.filter(pk=client.pk).update(enabled=False)
    wait_until(
        lambda: door.call("echo", {}, headers={"X-API-Key": key}).status_code == 401, timeout=1
    )


def test_a_bad_row_is_left_out_and_the_rest_is_served(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="good")
    bad = make_tool(name="bad")
    Tool.objects.filter(pk=bad.pk).update(
        input_schema={"type": "object", "properties": {"a": {"type": "nope"}}}
    )
    assert [tool["name"] for tool in door.get("/tools").json()["tools"]] == ["good"]
    assert door.call("bad", {}).status_code == 404
    assert door.call("good", {}).status_code == 200


def test_one_hundred_calls_at_once_all_succeed(door: RestDoor, backend: FakeBackend) -> None:
    # F3-27 S4-078
    make_tool(name="echo")
    make_service(security_rate_limit=100_000)
    door.start()
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda n: door.call("echo", {"n": n}), range(300)))
    assert [answer.json()["data"]["echo"]["n"] for answer in answers] == list(range(300))
    wait_until(lambda: ToolRequest.objects.filter(state="completed").count() == 300)


def test_a_repeated_request_id_makes_two_rows(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    given = str(uuid.uuid4())
    for _ in range(2):
        assert door.call("echo", {}, request_id=given).json()["request_id"] == given
    wait_until(lambda: ToolRequest.objects.filter(request_id=given, state="completed").count() == 2)


def test_known_rows_stay_after_their_tool_is_gone(door: RestDoor, backend: FakeBackend) -> None:
    tool = make_tool(name="echo")
    row = row_of(door.call("echo", {}).json()["request_id"])
    tool.delete()
    assert [kept.pk for kept in rows()] == [row.pk]


def test_journal_events_wait_in_redis_only_until_they_are_written(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    row_of(door.call("echo", {}).json()["request_id"])
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        wait_until(lambda: client.xlen("cp:journal") == 0)
