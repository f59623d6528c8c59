"""Several web processes serve one client: whichever its next request lands on, it never notices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tests.second_web import second_web_process
from tests.tools.mcp_server.clients import WAYS, user_of
from tools.contracts import CallState

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def call(tool: str, number: int = 1, **arguments: object) -> dict[str, object]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def answer_in(response: httpx2.Response) -> dict[str, object]:
    """The answer in a response that may be a stream."""
    if response.headers["content-type"].startswith("application/json"):
        return dict(response.json())
    lines = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return dict(json.loads(lines[-1][6:]))


@pytest.fixture
def other(door: RestDoor, tmp_path: Path) -> Iterator[str]:
    """The address of a second web process beside the door's."""
    make_tool(name="echo")
    door.start()
    with second_web_process(tmp_path / "web.log") as url:
        yield url


def test_a_handshake_made_here_is_good_there(door: RestDoor, other: str) -> None:
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        params = {**INITIALIZE["params"], "protocolVersion": version}  # type: ignore[dict-item]
        begun = {**INITIALIZE, "params": params}
        opened = httpx2.post(f"{door.url}/mcp", json=begun, headers=ACCEPT)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        result = answer_in(opened)["result"]
        assert isinstance(result, dict)
        assert result["protocolVersion"] == version
        assert result["capabilities"]["tools"] == {"listChanged": True}
        headers = {**ACCEPT, **session, "MCP-Protocol-Version": version}
        for url in (other, door.url, other):
            answer = answer_in(httpx2.post(f"{url}/mcp", json=call("echo"), headers=headers))
            request_id = answer["result"]["_meta"]["request_id"]  # type: ignore[index]
            assert row_of(request_id).state == CallState.COMPLETED, version


def test_a_message_posted_to_another_process_reaches_the_stream(
    door: RestDoor, other: str, backend: FakeBackend
) -> None:
    with httpx2.stream("GET", f"{door.url}/sse", timeout=20) as stream:
        lines = stream.iter_lines()
        where = next(line for line in lines if line.startswith("data: "))[6:]
        posted = httpx2.post(other + where, json=INITIALIZE)
        assert posted.status_code == 202
        first = json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        assert first["result"]["serverInfo"]["name"] == "mcp-control-plane"
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        httpx2.post(door.url + where, json=ready)
        httpx2.post(other + where, json=call("echo", word="hi"))
        second = json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        assert second["result"]["structuredContent"] == {"echo": {"word": "hi"}}
    # The work was done where the stream hangs.
    assert backend.calls == {"echo": 1}
    wait_until(lambda: httpx2.post(other + where, json=call("echo")).status_code == 404, what="404")


def test_a_cancellation_finds_its_call_in_another_process(
    door: RestDoor, other: str, backend: FakeBackend
) -> None:
    opened = httpx2.post(f"{door.url}/mcp", json=INITIALIZE, headers=ACCEPT)
    headers = {**ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    with user_of(door.url, WAYS[0]) as user:
        running = user.begin(partial(_post, f"{door.url}/mcp", call("echo", 7, delay=60), headers))
        wait_until(lambda: backend.calls == {"echo": 1}, what="the call to begin")
        cancel = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 7},
        }
        strange = {**headers, "mcp-session-id": "0" * 32}
        assert httpx2.post(f"{other}/mcp", json=cancel, headers=strange).status_code == 202
        assert httpx2.post(f"{other}/mcp", json=cancel, headers=headers).status_code == 202
        wait_until(lambda: backend.cancelled == 1, what="the work to stop")
        assert "cancelled" in answer_in(running.result(10))["error"]["message"]  # type: ignore[index]
    wait_until(lambda: [row.state for row in rows()] == [CallState.FAILED], what="the row")


def test_a_change_reaches_the_clients_of_both(door: RestDoor, other: str) -> None:
    with user_of(door.url, WAYS[4]) as here, user_of(other, WAYS[4]) as there:
        make_tool(name="second")
        for user in (here, there):
            wait_until(
                lambda user=user: "notifications/tools/list_changed" in user.notices,  # type: ignore[misc]
                what="the notice",
            )
            assert user.names() == ["echo", "second"]


async def _post(url: str, body: dict[str, object], headers: dict[str, str]) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30) as client:
        return await client.post(url, json=body, headers=headers)
