"""What a second look at the MCP doors found: odd clients, odd answers, and what is away meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis

from controlplane.application import begin_shutdown
from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.processes import wait_until
from tests.second_web import second_web_process
from tests.tools.mcp_server.clients import WAYS, Way, user_of
from tests.tools.mcp_server.raw_doors import (
    ACCEPT,
    INITIALIZE,
    VERSIONS,
    headers_for,
    raw_client,
    request,
)
from tests.tools.oauth.conftest import Trust, issuer, trust  # noqa: F401 - fixtures
from tests.tools.oauth.issuer import StandInIssuer
from tools.contracts import CallerKind, Credentials, ToolSource, ToolSpec, Transport
from tools.execution.lookup import Directory
from tools.execution.runtime import current
from tools.mcp_server.changes import Changes
from tools.mcp_server.peer import Peer, current_peer
from tools.selectors import Catalogue

LEGACY = Way("streamable_http", "legacy")
HALF = "�"


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_half_characters_in_an_answer_end_no_connection(
    door: RestDoor, way: Way, progress: bool
) -> None:
    make_tool(name="echo")
    door.start()
    meta = {"_meta": {"progressToken": 7}} if progress else {}
    with raw_client(door.url, way) as client:

        def asked(fail: str, number: int) -> dict[str, Any]:
            params = {"name": "echo", "arguments": {"fail": fail}, **meta}
            return client.send(json.dumps(request(way, "tools/call", params, number))).result

        expected = {f"half {HALF}": [f"a character {HALF}", 10**400]}
        found = asked("half", 1)
        assert found["structuredContent"] == expected
        assert json.loads(found["content"][0]["text"]) == expected
        told = asked("half-told", 2)
        assert told["isError"]
        assert told["structuredContent"]["error"]["message"] == f"half {HALF} a character"
    assert door.call("echo", {"fail": "half"}).json()["data"] == expected


def test_a_call_that_is_cancelled_twice_closes_in_peace(
    door: RestDoor, backend: FakeBackend, tmp_path: Path
) -> None:
    make_tool(name="echo")
    door.start()
    trace = tmp_path / "trace"
    with _cancelling(door.url, {"delay": 60, "closing": 0.5, "trace": str(trace)}) as cancel:
        wait_until(lambda: backend.calls == {"echo": 1}, what="the call to begin")
        assert cancel().status_code == 202
        wait_until(lambda: "cancelled" in trace.read_text(), what="the cancellation")
        assert cancel().status_code == 202
        wait_until(lambda: "closed" in trace.read_text(), 3, "an undisturbed end")


def test_hanging_up_on_a_cancelled_call_lets_it_close_in_peace(
    door: RestDoor, backend: FakeBackend, tmp_path: Path
) -> None:
    make_tool(name="echo")
    door.start()
    trace = tmp_path / "trace"
    with _cancelling(door.url, {"delay": 60, "closing": 1, "trace": str(trace)}) as cancel:
        wait_until(lambda: backend.calls == {"echo": 1}, what="the call to begin")
        cancel()
        wait_until(lambda: "cancelled" in trace.read_text(), what="the cancellation")
    wait_until(lambda: "closed" in trace.read_text(), 3, "an undisturbed end")


def test_a_cancellation_is_understood_however_its_method_is_written(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    door.start()
    with _cancelling(door.url, {"delay": 60}) as cancel:
        wait_until(lambda: backend.calls == {"echo": 1}, what="the call to begin")
        # As encoders write it that escape slashes.
        cancel(r"notifications\/cancelled")
        wait_until(lambda: backend.cancelled == 1, 3, "the work to stop")


def test_a_word_in_an_argument_makes_no_session(door: RestDoor) -> None:
    make_tool(name="echo")
    door.start()
    params = {"name": "echo", "arguments": {"do": "initialize"}, "_meta": {"progressToken": 1}}
    message = request(LEGACY, "tools/call", params)
    answer = httpx2.post(f"{door.url}/mcp", json=message, headers=headers_for(LEGACY, message))
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


def test_a_tool_that_was_not_granted_looks_like_none_whatever_its_schema(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    }
    make_tool(name="hidden", input_schema=schema)
    seen = make_toolset(tools=[make_tool(name="seen")])
    _, key = make_client(toolsets=[seen])
    way = Way("streamable_http", "auto")
    door.start()
    with raw_client(door.url, way, key) as client:
        answers = [
            client.send(
                json.dumps(
                    request(way, "tools/call", {"name": name, "arguments": {"region": "north"}})
                )
            )
            for name in ("hidden", "nowhere")
        ]
    shapes = [(each.status, each.error.get("code"), each.result.get("isError")) for each in answers]
    assert shapes[0] == shapes[1]


@contextmanager
def _cancelling(url: str, arguments: dict[str, Any]) -> Iterator[Any]:
    """A call under way in a session of its own, and how to cancel it. Hangs up at the end."""
    first = request(LEGACY, "initialize", INITIALIZE, 0)
    opened = httpx2.post(f"{url}/mcp", json=first, headers=ACCEPT)
    headers = {
        **ACCEPT,
        "Content-Type": "application/json",
        "MCP-Protocol-Version": VERSIONS["legacy"],
        "Mcp-Session-Id": opened.headers["mcp-session-id"],
    }
    message = request(LEGACY, "tools/call", {"name": "echo", "arguments": arguments}, 7)

    def cancel(method: str = "notifications/cancelled") -> httpx2.Response:
        body = f'{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":7}}}}'
        return httpx2.post(f"{url}/mcp", content=body, headers=headers)

    async def post() -> None:
        async with httpx2.AsyncClient(timeout=30) as client:
            await client.post(f"{url}/mcp", json=message, headers=headers)

    with user_of(url, WAYS[0]) as user:
        running = user.begin(post)
        yield cancel
        running.cancel()


# Access tokens are short-lived; streams are not.


def test_a_client_of_sse_that_renewed_its_token_is_served_on(
    door: RestDoor,
    issuer: StandInIssuer,  # noqa: F811
    trust: Trust,  # noqa: F811
) -> None:
    make_toolset(slug="reports", tools=[make_tool(name="report")], oauth_scope="reports.read")
    trust(issuer)
    door.start()
    now = int(time.time())
    # Good for a few more seconds of leeway.
    old = {"Authorization": f"Bearer {issuer.token(exp=now - 26, iat=now - 300)}"}
    way = Way("sse", "legacy")
    with raw_client(door.url, way, old["Authorization"][7:]) as client:
        call = json.dumps(request(way, "tools/call", {"name": "report", "arguments": {}}))
        assert client.send(call).result["isError"] is False
        wait_until(lambda: door.get("/tools", headers=old).status_code == 401, what="expiry")
        assert client.send(call).status == 401
        renewed = {"Authorization": f"Bearer {issuer.token()}"}
        assert client.send(call, renewed).result["isError"] is False
        narrower = {"Authorization": f"Bearer {issuer.token(scope='other')}"}
        assert "not found" in client.send(call, narrower).error["message"]


# Redis between the processes.


def test_a_letter_nobody_understands_does_not_end_the_relay(
    door: RestDoor, redis_url: str, tmp_path: Path
) -> None:
    make_tool(name="echo")
    door.start()
    with (
        second_web_process(tmp_path / "web.log") as other,
        httpx2.stream("GET", f"{door.url}/sse", timeout=20) as stream,
        redis.Redis.from_url(redis_url) as anybody,
    ):
        lines = stream.iter_lines()
        where = next(line for line in lines if line.startswith("data: "))[6:]
        for letter in ("no JSON", '["too", "short"]', "7"):
            anybody.publish("cp:relay:everybody", letter)
        first = request(LEGACY, "initialize", INITIALIZE, 0)
        assert httpx2.post(other + where, json=first).status_code == 202
        answer = json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        assert answer["result"]["serverInfo"]


def test_a_redis_that_takes_no_more_writes_does_not_close_the_door(
    door: RestDoor, redis_url: str
) -> None:
    make_tool(name="echo")
    door.start()
    with redis.Redis.from_url(redis_url) as operator:
        operator.config_set("maxmemory", 1)
        try:
            with raw_client(door.url, Way("sse", "legacy")) as client:
                found = client.send(json.dumps(request(LEGACY, "ping")))
                assert found.message["result"] == {}
        finally:
            operator.config_set("maxmemory", 0)


def test_a_redis_that_lost_everything_is_told_again_where_streams_are(
    door: RestDoor, redis_url: str, tmp_path: Path
) -> None:
    make_tool(name="echo")
    door.start()
    with (
        second_web_process(tmp_path / "web.log") as other,
        httpx2.stream("GET", f"{door.url}/sse", timeout=20) as stream,
        redis.Redis.from_url(redis_url) as operator,
    ):
        lines = stream.iter_lines()
        where = next(line for line in lines if line.startswith("data: "))[6:]
        # What a restart without its files looks like.
        operator.flushall()
        operator.client_kill_filter(_type="pubsub")
        first = request(LEGACY, "initialize", INITIALIZE, 0)

        def taken() -> bool:
            return httpx2.post(other + where, json=first).status_code == 202

        wait_until(taken, 5, "a post that finds its stream")


@pytest.mark.parametrize("pause", [0, 600])
def test_a_stream_that_opens_while_the_process_begins_to_stop_ends_too(
    door: RestDoor, redis_url: str, pause: int
) -> None:
    make_tool(name="echo")
    door.start()
    assert door.loop is not None
    with (
        ThreadPoolExecutor(1) as threads,
        redis.Redis.from_url(redis_url) as operator,
    ):
        # A Redis that keeps the opening stream waiting for its moment.
        operator.execute_command("CLIENT", "PAUSE", pause, "ALL")
        opening = threads.submit(httpx2.get, f"{door.url}/sse", timeout=10)
        wait_until(lambda: current().live()["current_connections"] == 1, what="the stream")
        door.loop.call_soon_threadsafe(begin_shutdown)
        assert opening.result().status_code == 200


# One change, many listeners.


async def test_a_change_costs_hundreds_of_listeners_no_more_than_one() -> None:
    def directory(word: str) -> Directory:
        schema = {
            "type": "object",
            "properties": {f"field_{n}": {"type": "string", "description": "x"} for n in range(10)},
        }
        tools = {
            name: ToolSpec(name, "Answers.", deepcopy(schema), ToolSource.HTTP_API, "e")
            for name in (f"tool_{number:03}" for number in range(499))
        }
        last = ToolSpec("tool_999", word, deepcopy(schema), ToolSource.HTTP_API, "e")
        return Directory(Catalogue(tools={**tools, "tool_999": last}))

    def seconds(listeners: int) -> float:
        changes, heard = Changes(), list[object]()
        current_peer.set(Peer(Credentials(CallerKind.LOCAL, name="x"), Transport.SSE))
        for _ in range(listeners):
            changes.subscribe(heard.append)
        before, after = directory("Was."), directory("Is.")
        began = time.perf_counter()
        changes.catalogue_changed(before, after)
        assert len(heard) == listeners
        return time.perf_counter() - began

    seconds(1)
    assert await asyncio.to_thread(partial(seconds, 300)) < 0.2
