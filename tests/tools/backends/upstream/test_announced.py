"""Arguments that a server wants announced in headers, and tools that it lists twice."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.inbound import validate_mcp_param_headers

from tests.tools.backends.upstream.raw_http import Asked, error, reply
from tests.tools.backends.upstream.scripted import discovered, reached, scripted, tool, welcome
from tests.tools.backends.upstream.trial import Trial
from tools.errors import HeldBack

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "inner": {
            "type": "object",
            "properties": {"urgent": {"type": "boolean", "x-mcp-header": "Urgent"}},
        },
        "note": {"type": "string"},
    },
}
ROUTED = {**tool("route"), "inputSchema": SCHEMA}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "routed"}]}


def strict(request: Asked) -> Any:
    """Refuses a call whose headers do not say what its arguments do, as servers of the SDK do."""
    lines = [line.partition(b": ") for line in request.head.split(b"\r\n")[1:]]
    headers = {name.decode().lower(): value.decode() for name, _, value in lines if name}
    arguments = request.message["params"]["arguments"]
    fault = validate_mcp_param_headers(SCHEMA, arguments, headers)
    return DONE if fault is None else reply(error(request, fault.code, fault.message), 400)


ANSWERS: dict[str, Any] = {
    "server/discover": discovered(),
    "tools/list": {"tools": [ROUTED]},
    "tools/call": strict,
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"region": "eu-1", "note": "x"},
        {"region": "überall", "inner": {"urgent": True}},
        {"note": "no region"},
        {},
    ],
)
async def test_arguments_are_announced_as_the_server_wants_them(arguments: Any) -> None:
    async with scripted(ANSWERS) as server:
        calls = Trial(reached(server), {"route": ROUTED})
        result = await calls.call("route", **arguments)
        await calls.backend.manager().close()
        sent = [one.header("Mcp-Param-Note") for one in server.asked]
    assert result["content"] == DONE["content"]
    assert set(sent) == {""}


async def test_sessions_of_the_handshake_era_announce_nothing() -> None:
    answers = {**ANSWERS, "server/discover": None, "initialize": welcome(), "tools/call": DONE}
    async with scripted(answers) as server:
        calls = Trial(reached(server), {"route": ROUTED})
        await calls.call("route", region="eu-1")
        await calls.backend.manager().close()
        assert all(not one.header("Mcp-Param-Region") for one in server.asked)


async def test_of_a_tool_that_is_listed_twice_the_first_counts() -> None:
    # S2-019
    second = {**ROUTED, "description": "Quite another thing."}
    answers = {**ANSWERS, "tools/list": {"tools": [ROUTED, second]}}
    async with scripted(answers) as server:
        calls = Trial(reached(server), {"route": ROUTED})
        assert (await calls.call("route"))["content"] == DONE["content"]
        await calls.backend.manager().close()
        other = Trial(reached(server), {"route": second})
        with pytest.raises(HeldBack):
            await other.call("route")
        await other.backend.manager().close()
