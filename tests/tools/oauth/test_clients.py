"""A real MCP client finds the issuer by itself, gets a token there and works with it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from websockets import Subprotocol
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.doors import RestDoor, free_port
from tests.factories import make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import rows
from tests.processes import wait_until
from tests.tools.oauth.conftest import Trust
from tests.tools.oauth.issuer import StandInIssuer

CLIENT = {"name": "test", "version": "1"}


class Memory:
    """Where the client keeps its token."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """The client is known to the issuer already."""


@pytest.fixture
def address(door: RestDoor, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the door will be, known before it starts."""
    port = free_port()
    monkeypatch.setattr("tests.doors.free_port", lambda: port)
    make_toolset(slug="reports", tools=[make_tool(name="report")], oauth_scope="reports.read")
    make_toolset(slug="inner", tools=[make_tool(name="inner")])
    return f"http://127.0.0.1:{port}"


def provider(url: str, issuer: StandInIssuer, memory: Memory) -> httpx2.Auth:
    return ClientCredentialsOAuthProvider(
        server_url=url,
        storage=memory,
        client_id="sdk",
        client_secret="kept by the client",
        issuer=issuer.url,
    )


async def use(transport: Any, mode: Any) -> tuple[list[str], Any]:
    async with Client(transport, mode=mode) as client:
        listed = await client.list_tools()
        called = await client.call_tool("report", {"a": 1})
        return [tool.name for tool in listed.tools], called.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/reports"])
def test_the_sdk_gets_a_token_for_streamable_http(
    *,
    door: RestDoor,
    issuer: StandInIssuer,
    trust: Trust,
    backend: FakeBackend,
    address: str,
    mode: str,
    path: str,
) -> None:
    trust(issuer, OAUTH_AUDIENCE=f"{address}/mcp")
    door.start()
    memory = Memory()
    url = address + path

    async def over_http() -> tuple[list[str], Any]:
        async with httpx2.AsyncClient(auth=provider(url, issuer, memory)) as http:
            return await use(streamable_http_client(url, http_client=http), mode)

    assert asyncio.run(over_http()) == (["report"], {"echo": {"a": 1}})
    assert memory.tokens is not None
    assert memory.tokens.scope == "reports.read"
    assert issuer.requests["/token"] == 1
    wait_until(lambda: [row.caller for row in rows()] == ["oauth:sdk"])


def test_the_sdk_gets_a_token_for_sse_where_the_whole_service_is_the_resource(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend, address: str
) -> None:
    trust(issuer, OAUTH_AUDIENCE=address)
    door.start()
    url = f"{address}/sse"
    auth = provider(url, issuer, Memory())
    assert asyncio.run(use(sse_client(url, auth=auth), "auto")) == (["report"], {"echo": {"a": 1}})


def test_a_websocket_is_opened_with_a_token_and_refused_with_the_challenge_without(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend, address: str
) -> None:
    trust(issuer)
    door.start()
    url = f"{address.replace('http', 'ws', 1)}/ws"

    def opened(token: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return connect(url, additional_headers=headers, subprotocols=[Subprotocol("mcp")])

    for token in ("", issuer.token(aud="elsewhere")):
        with pytest.raises(InvalidStatus) as refused:
            opened(token)
        assert refused.value.response.status_code == 401
        asked = refused.value.response.headers["WWW-Authenticate"]
        assert "resource_metadata=" in asked
        assert ('error="invalid_token"' in asked) is bool(token)
    with opened(issuer.token()) as socket:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        socket.send(message("initialize", hello, 1))
        assert json.loads(socket.recv(10))["result"]["serverInfo"]
        socket.send(message("notifications/initialized", {}))
        socket.send(message("tools/list", {}, 2))
        listed = json.loads(socket.recv(10))["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["report"]


def message(method: str, params: Any, id: int | None = None) -> str:
    """One JSON-RPC message; without an id a notification."""
    numbered = {} if id is None else {"id": id}
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **numbered})
