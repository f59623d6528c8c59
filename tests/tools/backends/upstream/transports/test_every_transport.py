"""The same conversation with the same server, whatever the transport."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.backends.upstream.transports.talk import (
    ACCEPTED,
    Heard,
    ask,
    asked,
    at,
    initialize,
    opened,
    started,
)
from tools.upstreams import Upstream, UpstreamTransport

ADD = {"name": "add", "arguments": {"a": 2, "b": 3}, "_meta": {"progressToken": "p"}}


def reached(transport: str, port: int) -> Upstream:
    match UpstreamTransport(transport):
        case UpstreamTransport.STDIO:
            return started("calculator", connect_timeout=15)
        case UpstreamTransport.SSE:
            return at(f"http://127.0.0.1:{port}/sse", transport=UpstreamTransport.SSE)
        case UpstreamTransport.WEBSOCKET:
            return at(f"ws://127.0.0.1:{port}/ws", transport=UpstreamTransport.WEBSOCKET)
        case UpstreamTransport.STREAMABLE_HTTP:
            return at(f"http://127.0.0.1:{port}/mcp")


@pytest.mark.parametrize("transport", list(UpstreamTransport))
async def test_a_server_of_the_sdk_is_spoken_to_over_every_transport(
    transport: str, sdk_port: int, commands: dict[str, Any]
) -> None:
    # F2-11 S2-014
    heard = Heard()
    async with opened(reached(transport, sdk_port), heard) as channel:
        begun = await asked(channel, initialize(1))
        assert begun["result"]["serverInfo"]["name"] == "calculator"
        version = {"MCP-Protocol-Version": begun["result"]["protocolVersion"]}
        await channel.notify(ACCEPTED, version)
        listed = await asked(channel, ask(2, "tools/list"), version)
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["add"]
        called = await asked(channel, ask(3, "tools/call", **ADD), version)
        assert called["result"]["structuredContent"] == {"result": 5}
        assert heard.methods == ["notifications/progress"]
        assert not channel.broken
    assert channel.broken


@pytest.mark.parametrize("transport", list(UpstreamTransport))
async def test_only_a_child_has_a_process(
    transport: str, sdk_port: int, commands: dict[str, Any]
) -> None:
    # S2-004 T12
    async with opened(reached(transport, sdk_port)) as channel:
        assert (channel.process_handle is not None) == (transport == "stdio")


async def test_an_ended_session_of_the_sdk_is_told_apart(sdk_port: int) -> None:
    from tools.backends.upstream.channel import SessionExpired

    async with opened(reached("streamable_http", sdk_port)) as channel:
        await asked(channel, initialize(1))
        session: Any = channel
        assert session.session_id
        session.session_id = "0123456789abcdef0123456789abcdef"
        with pytest.raises(SessionExpired) as told:
            await asked(channel, ask(2))
        assert not told.value.sent
