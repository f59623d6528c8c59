"""`manage.py mcp_serve`: stand-alone listeners, started as an operator would and really used."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.controlplane.alone import HANDSHAKE, Alone, Process, alone, process
from tests.controlplane.stack import free_port
from tests.processes import wait_until
from tests.tools.mcp_server.clients import Way, connected

LIMIT = 5
LISTENERS = ("http-sse", "websocket", "streamable_http")
ERAS = ("legacy", "auto")


@pytest.fixture(scope="module")
def made() -> Iterator[Alone]:
    with alone() as folder:
        yield folder


class Listener:
    """A running listener and where it is."""

    def __init__(self, transport: str, port: int, running: Process) -> None:
        self.transport = transport
        self.url = f"http://127.0.0.1:{port}"
        self.running = running

    @property
    def way(self) -> str:
        return {"http-sse": "sse"}.get(self.transport, self.transport)


@contextmanager
def listening(
    made: Alone, transport: str, *, stdin: int = subprocess.DEVNULL, **extra: str
) -> Iterator[Listener]:
    port = free_port()
    given = {"MCP_TRANSPORT": transport, "MCP_PORT": str(port), **extra}
    with process(made, "mcp_serve", stdin=stdin, **given) as running:
        running.wait_for("Serving MCP at")
        yield Listener(transport, port, running)


@pytest.fixture(scope="module", params=LISTENERS)
def listener(made: Alone, request: pytest.FixtureRequest) -> Iterator[Listener]:
    with listening(made, request.param, MCP_MAX_CONNECTIONS=str(LIMIT)) as running:
        yield running


@pytest.mark.parametrize("era", ERAS)
async def test_tools_are_listed_and_called_over_each_transport(
    made: Alone, listener: Listener, era: str
) -> None:
    # S4-053 S4-059 F0-28 F4-10 C04
    before = len(made.ended("echo"))
    async with connected(listener.url, Way(listener.way, era)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "slow"]
        result = await client.call_tool("echo", {"over": listener.transport})
    assert result.structured_content == {"echo": {"over": listener.transport}}
    # No web process runs and no Redis: the row is written all the same.
    assert made.next_ended("echo", before)["transport"] == listener.way


def test_only_the_chosen_door_is_there(listener: Listener) -> None:
    doors = {"sse": "/sse", "streamable_http": "/mcp", "websocket": "/ws"}
    others = [path for way, path in doors.items() if way != listener.way]
    for path in (*others, "/tools", "/admin/"):
        assert httpx2.get(listener.url + path).status_code == 404, path


Opener = Callable[[str], AbstractContextManager[Any]]


@contextmanager
def stream(url: str) -> Iterator[httpx2.Response]:
    """An open stream of events, or the refusal of one."""
    headers = {"Accept": "text/event-stream"}
    with httpx2.stream("GET", url, headers=headers, timeout=30) as answer:
        # Kept until the end: the stream closes with its iterator.
        lines = answer.iter_lines()
        if answer.status_code == 200:
            next(lines)
        else:
            answer.read()
        yield answer


def websocket(url: str) -> AbstractContextManager[Any]:
    return connect(url.replace("http", "ws", 1) + "/ws", subprotocols=[Subprotocol("mcp")])


OPENERS: dict[str, Opener] = {
    "http-sse": lambda url: stream(f"{url}/sse"),
    "streamable_http": lambda url: stream(f"{url}/mcp"),
    "websocket": websocket,
}


def refusal(listener: Listener) -> tuple[int, str, dict[str, Any]]:
    """Status, Retry-After and body of the answer to a client for whom there is no room."""
    if listener.transport == "websocket":
        with pytest.raises(InvalidStatus) as refused, websocket(listener.url):
            pass
        response = refused.value.response
        return response.status_code, response.headers["retry-after"], json.loads(response.body)
    with OPENERS[listener.transport](listener.url) as answer:
        return answer.status_code, answer.headers["retry-after"], answer.json()


def test_sixth_client_is_refused_until_one_of_five_leaves(listener: Listener) -> None:
    # F0-29 C09 S4-078
    opening = OPENERS[listener.transport]
    with ExitStack() as rest:
        leaving = ExitStack()
        leaving.enter_context(opening(listener.url))
        for _ in range(LIMIT - 1):
            rest.enter_context(opening(listener.url))
        status, retry_after, body = refusal(listener)
        assert (status, retry_after) == (503, "30")
        assert body["error"]["message"].startswith("connection_limit_exceeded")
        told = body["error"]["data"]
        assert (told["max"], told["current"], told["retry_after"]) == (LIMIT, LIMIT, 30)
        leaving.close()
        wait_until(lambda: admitted(listener), what="a place")


def admitted(listener: Listener) -> bool:
    try:
        with OPENERS[listener.transport](listener.url) as answer:
            return getattr(answer, "status_code", 200) == 200
    except InvalidStatus:
        return False


def test_listener_says_where_it_is_and_what_to_paste(listener: Listener) -> None:
    told = "".join(listener.running.told)
    if listener.transport == "websocket":
        assert f"{listener.url.replace('http', 'ws', 1)}/ws (subprotocol mcp)" in told
        return
    pasted = json.loads(told[told.index("\n{\n  ") : told.index("\n}\n") + 2])
    path = {"http-sse": "/sse", "streamable_http": "/mcp"}[listener.transport]
    assert pasted["mcpServers"]["mcp-control-plane"]["url"] == listener.url + path
    assert listener.running.printed == []


async def test_stdio_is_what_is_served_by_default(made: Alone) -> None:
    # S4-053 S4-054 S4-059
    server = made.server()
    server.args[1] = "mcp_serve"
    async with Client(server, mode="legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "slow"]


async def test_both_serves_stdio_and_sse_and_ends_with_its_stdio_client(made: Alone) -> None:
    # F0-28
    with listening(made, "both", stdin=subprocess.PIPE) as served:
        served.running.send(*HANDSHAKE, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        listed = served.running.answer(1)["result"]["tools"]
        async with Client(sse_client(f"{served.url}/sse"), mode="legacy") as client:
            assert len((await client.list_tools()).tools) == len(listed) == 2
            served.running.close_input()
            assert served.running.wait() == 0


def test_both_without_a_client_at_stdio_serves_sse(made: Alone) -> None:
    with listening(made, "BOTH", stdin=subprocess.DEVNULL) as served:
        with stream(f"{served.url}/sse") as answer:
            assert answer.status_code == 200
        served.running.signal(signal.SIGTERM)
        assert served.running.wait() == 0


async def test_one_toolset_is_all_that_is_served(made: Alone) -> None:
    with listening(made, "streamable_http", MCP_TOOLSET="mine") as served:
        async with connected(served.url, Way("streamable_http", "auto")) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        assert httpx2.get(f"{served.url}/mcp/mine").status_code == 404


async def test_keys_are_asked_for_where_the_service_requires_them(made: Alone) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    with listening(
        made, "streamable_http", SECURITY__API_KEYS_ENABLED="true", MCP_HOST=everywhere
    ) as served:
        assert httpx2.post(f"{served.url}/mcp", json={}).status_code == 401
        way = Way("streamable_http", "legacy")
        async with connected(served.url, way, key=made.key) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        assert '"Authorization": "Bearer ${CONTROL_PLANE_KEY:-}"' in "".join(served.running.told)


def test_call_under_way_is_finished_after_sigterm(made: Alone) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "slow", "arguments": {"delay": 1, "trace": str(made.folder / "t")}},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    answers: list[httpx2.Response] = []
    with listening(made, "streamable_http") as served:

        def post() -> None:
            url = f"{served.url}/mcp"
            answers.append(httpx2.post(url, json=message, headers=headers, timeout=30))

        caller = threading.Thread(target=post)
        caller.start()
        wait_until((made.folder / "t").exists, what="a call under way")
        served.running.signal(signal.SIGTERM)
        caller.join(20)
        assert served.running.wait() == 0
    assert [answer.status_code for answer in answers] == [200]
    assert '"isError":false' in answers[0].text


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"MCP_TRANSPORT": "carrier-pigeon"}, "MCP_TRANSPORT must be one of stdio, http-sse"),
        ({"MCP_TRANSPORT": "http-sse"}, "MCP_PORT is required"),
        ({"MCP_TRANSPORT": "http-sse", "MCP_PORT": "80"}, "MCP_PORT must be a whole number"),
        ({"MCP_PORT": "8000"}, "MCP_PORT must be unset"),
        ({"MCP_TRANSPORT": "sse", "MCP_PORT": "8000", "MCP_TOOLSET": "x"}, "no toolset 'x'"),
        (
            {"MCP_TRANSPORT": "sse", "MCP_PORT": "8000", "MCP_HOST": "0.0.0.0"},  # noqa: S104
            "Refusing to listen on 0.0.0.0 with API keys off",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    made: Alone, given: dict[str, str], reason: str
) -> None:
    # S4-055 S4-056 S4-057 S4-058 T07
    refused = made.manage("mcp_serve", **given)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert reason in refused.stderr


def test_taken_port_is_refused_and_the_variable_named(made: Alone) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        refused = made.manage("mcp_serve", MCP_TRANSPORT="websocket", MCP_PORT=port)
    assert refused.returncode == 1
    assert f"Port {port}" in refused.stderr
    assert "MCP_PORT=" in refused.stderr
