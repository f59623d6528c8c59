"""The standard HTTP tool server as a client meets it: life of the service, codes, speed of the list."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from django.db import connection

from controlplane.asgi import begin_shutdown
from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset, tool_values
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tools.errors import ErrorCode
from tools.models import Tool

LIST_LIMIT_SECONDS = 0.1


@contextmanager
def without_catalogue() -> Iterator[None]:
    """The database as a process meets it that starts before the migrations have run."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tools_tool RENAME TO tools_tool_away")
        try:
            yield
        finally:
            cursor.execute("ALTER TABLE tools_tool_away RENAME TO tools_tool")


def post(url: str, tool: str) -> httpx2.Response | None:
    """POST /call-tool; None while nobody listens there yet."""
    try:
        return httpx2.post(f"{url}/call-tool", json={"tool": tool, "arguments": {}}, timeout=5)
    except httpx2.TransportError:
        return None


def test_a_starting_service_answers_503_in_the_envelope_and_then_serves(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-018 S3-038 S3-055 F3-31
    make_tool(name="echo")
    starting = threading.Thread(target=door.start)
    with without_catalogue():
        starting.start()
        wait_until(lambda: bool(door.url) and post(door.url, "echo") is not None, what="a listener")
        answer = post(door.url, "echo")
        listing = httpx2.get(f"{door.url}/tools", timeout=5)
        health = httpx2.get(f"{door.url}/health", timeout=5)
    starting.join(20)
    assert answer is not None
    for refused in (answer, listing):
        body = refused.json()
        assert (refused.status_code, body["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert body["success"] is False
        assert int(refused.headers["Retry-After"]) >= 1
    assert (health.status_code, health.json()["state"]) == (503, "INITIALIZING")
    assert door.call("echo").status_code == 200


def test_a_stopping_service_refuses_new_calls_and_journals_the_refusal(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-018 S3-041 S3-055
    make_tool(name="echo")
    assert door.call("echo").status_code == 200
    begin_shutdown()
    answer = door.call("echo")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) >= 1
    assert row_of(body["request_id"]).code == "SERVICE_UNAVAILABLE"
    assert backend.calls == {"echo": 1}
    health = door.get("/health")
    assert (health.status_code, health.json()["state"]) == (503, "SHUTTING_DOWN")


def outcomes(door: RestDoor) -> dict[str, tuple[int, str | None]]:
    """Status and code of one call for each way a call can end, made by a client of its own."""
    _, key = make_client(toolsets=[make_toolset(includes_all=True)], rate_limit_per_minute=10)
    headers = {"X-API-Key": key}
    answers = {
        "success": door.call("echo", headers=headers),
        "unknown tool": door.call("missing", headers=headers),
        "bad arguments": door.call("strict", {"n": "one"}, headers=headers),
        "failed": door.call("echo", {"fail": "execution"}, headers=headers),
        "bug": door.call("echo", {"fail": "bug"}, headers=headers),
        "dependency away": door.call("echo", {"fail": "transport"}, headers=headers),
        "too slow": door.call("slow", {"delay": 30}, headers=headers),
    }
    while (last := door.call("echo", headers=headers)).status_code == 200:
        pass
    answers["too often"] = last
    return {name: (one.status_code, one.json().get("code")) for name, one in answers.items()}


def test_like_failures_have_the_same_status_and_code_in_two_services(
    door: RestDoor, backend: FakeBackend
) -> None:
    # F3-02 F3-04 S3-012 S3-013 S3-014 S3-015 S3-016 S3-017 S3-018 S3-019
    make_tool(name="echo")
    make_tool(name="slow", timeout_seconds=1)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    make_tool(name="strict", input_schema=schema)
    service = make_service(service_name="code-graph-rag")
    first = outcomes(door)
    door.stop()
    service.delete()
    make_service(service_name="seekr")
    second = outcomes(door)
    assert first == {
        "success": (200, None),
        "unknown tool": (404, "TOOL_NOT_FOUND"),
        "bad arguments": (400, "INVALID_ARGUMENTS"),
        "failed": (500, "EXECUTION_ERROR"),
        "bug": (500, "INTERNAL_ERROR"),
        "dependency away": (503, "SERVICE_UNAVAILABLE"),
        "too slow": (504, "TIMEOUT"),
        "too often": (429, "RATE_LIMITED"),
    }
    assert second == first
    assert {code for _, code in first.values()} == {None, *(code.value for code in ErrorCode)}
    assert door.get("/tools").json()["service"] == "seekr"


def test_five_hundred_tools_are_listed_within_a_tenth_of_a_second(door: RestDoor) -> None:
    # F3-24
    schema = {
        "type": "object",
        "properties": {f"field_{n}": {"type": "string", "default": "x"} for n in range(8)},
    }
    Tool.objects.bulk_create(
        Tool(**tool_values(name=f"tool_{number:03d}", input_schema=schema)) for number in range(500)
    )
    assert len(door.get("/tools").json()["tools"]) == 500
    assert min(seconds_to_list(door) for _ in range(10)) < LIST_LIMIT_SECONDS


def seconds_to_list(door: RestDoor) -> float:
    """What it takes to list and to read the whole list: of this process, whatever else keeps the machine busy."""
    begun = time.process_time()
    assert door.get("/tools").status_code == 200
    return time.process_time() - begun


def test_what_is_no_call_leaves_no_row(door: RestDoor) -> None:
    # F0-31
    answer = door.client.post(
        "/call-tool", content=b"{", headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert rows() == []
