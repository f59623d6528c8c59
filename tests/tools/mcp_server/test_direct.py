"""The direct lane answers as the SDK would: the same messages are sent both ways and compared."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.processes import wait_until
from tools.mcp_server.transports import direct
from tools.mcp_server.transports.ordinary import ordinary

MODERN = "2026-07-28"
VERSIONS = (MODERN, *HANDSHAKE_PROTOCOL_VERSIONS)
PASSING = {"request_id", "timestamp", "execution_time_ms", "rate_limit_remaining"}


def message(method: str, version: str, *, unusual: bool = False, **params: Any) -> dict[str, Any]:
    """A message; an unusual one carries a key that the direct lane does not know."""
    meta: dict[str, Any] = {"example.org/unusual": True} if unusual else {}
    if version == MODERN:
        meta |= {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
    return {"jsonrpc": "2.0", "id": "a-1", "method": method, "params": {**params, "_meta": meta}}


def headers_for(body: dict[str, Any], version: str) -> dict[str, str]:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
    }
    if version == MODERN:
        headers["Mcp-Method"] = body["method"]
        if "name" in body["params"]:
            headers["Mcp-Name"] = body["params"]["name"]
    return headers


def sent(door: RestDoor, body: dict[str, Any], version: str) -> tuple[int, dict[str, Any]]:
    """Status and answer, whichever form it comes in."""
    answer = httpx2.post(
        f"{door.url}/mcp",
        content=json.dumps(body),
        headers=headers_for(body, version),
        timeout=30,
    )
    if answer.headers["content-type"].startswith("application/json"):
        return answer.status_code, answer.json()
    data = [
        line for line in answer.text.replace("\r", "").split("\n") if line.startswith("data: {")
    ]
    return answer.status_code, json.loads(data[-1][6:])


def without_passing(value: Any) -> Any:
    """`value` without what differs from call to call."""
    if isinstance(value, dict):
        return {name: without_passing(item) for name, item in value.items() if name not in PASSING}
    if isinstance(value, list | tuple):
        return [without_passing(item) for item in value]
    return value


def is_ordinary(body: dict[str, Any], version: str) -> bool:
    raw = [
        (name.lower().encode(), value.encode())
        for name, value in headers_for(body, version).items()
    ]
    return ordinary(raw, json.dumps(body).encode()) is not None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"word": "grüße \u2028 🐑"},
        {"whole": 2**70, "small": 1e-300},
        {"count": "three"},
        {"fail": "RateLimited"},
        {"fail": "DeadlineExceeded"},
        {"fail": "InternalFault"},
        {"fail": "ToolNotFound"},
        {"result": [1, None, "x"]},
    ],
    ids=str,
)
def test_calls_are_answered_alike(
    door: RestDoor, backend: FakeBackend, version: str, arguments: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer", "default": 1}}}
    make_tool(name="echo", input_schema=schema)
    door.start()
    plain = message("tools/call", version, name="echo", arguments=arguments)
    odd = message("tools/call", version, unusual=True, name="echo", arguments=arguments)
    assert is_ordinary(plain, version)
    assert not is_ordinary(odd, version)
    assert without_passing(sent(door, plain, version)) == without_passing(sent(door, odd, version))


def test_half_a_surrogate_pair_is_refused_alike(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    door.start()
    plain = message("tools/call", MODERN, name="echo", arguments={"half": "\ud83d"})
    odd = message("tools/call", MODERN, unusual=True, name="echo", arguments={"half": "\ud83d"})
    answers = [without_passing(sent(door, body, MODERN)) for body in (plain, odd)]
    assert answers[0] == answers[1]
    assert (answers[0][0], answers[0][1]["error"]["code"]) == (400, -32700)


@pytest.mark.parametrize("version", VERSIONS)
def test_lists_are_answered_alike(door: RestDoor, version: str) -> None:
    make_tool(name="plain")
    make_tool(
        name="rich",
        title="Rich ü",
        read_only=True,
        tags=["a", "b"],
        output_schema={"type": "object", "properties": {"echo": {}}},
        input_schema={
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/y"}},
            "$defs": {"y": {}},
        },
    )
    door.start()
    plain = sent(door, message("tools/list", version), version)
    odd = sent(door, message("tools/list", version, unusual=True), version)
    assert plain == odd
    assert len(plain[1]["result"]["tools"]) == 2


@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
def test_a_shortened_answer_links_to_the_whole(  # F4-07
    door: RestDoor, backend: FakeBackend, version: str
) -> None:
    make_tool(name="echo", requires_context_management=True, token_budget=200)
    rows = [{"id": number, "note": "words " * 20} for number in range(50)]
    door.start()
    plain = message("tools/call", version, name="echo", arguments={"result": {"rows": rows}})
    _, answer = sent(door, plain, version)
    text, words, link = answer["result"]["content"]
    assert json.loads(text["text"]) == answer["result"]["structuredContent"]
    assert "read_result" in words["text"]
    assert link["type"] == "resource_link"
    read = message("resources/read", version, uri=link["uri"])
    headers = {**headers_for(read, version)}
    if version == MODERN:
        headers["Mcp-Name"] = link["uri"]
    whole = httpx2.post(f"{door.url}/mcp", json=read, headers=headers)
    body = whole.text if version == MODERN else whole.text.partition("data: ")[2]
    contents = json.loads(body.strip().splitlines()[0])["result"]["contents"]
    assert json.loads(contents[0]["text"]) == {"rows": rows}


def test_a_long_call_is_answered_on_a_stream(
    door: RestDoor, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "STREAM_AFTER", 0.1)
    monkeypatch.setattr(direct, "PING_SECONDS", 0.1)
    make_tool(name="echo")
    door.start()
    body = message("tools/call", MODERN, name="echo", arguments={"delay": 0.5})
    answer = httpx2.post(f"{door.url}/mcp", json=body, headers=headers_for(body, MODERN))
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.text.startswith(": ping")
    assert sent(door, body, MODERN)[1]["result"]["isError"] is False


@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
def test_a_client_that_hangs_up_stops_its_call(
    door: RestDoor, backend: FakeBackend, version: str
) -> None:
    make_tool(name="echo")
    door.start()
    body = message("tools/call", version, name="echo", arguments={"delay": 60})
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(f"{door.url}/mcp", json=body, headers=headers_for(body, version), timeout=0.5)
    wait_until(lambda: backend.cancelled == 1, what="the work to stop")


def test_the_lane_knows_callers_and_toolsets(door: RestDoor, backend: FakeBackend) -> None:
    make_service(security_api_keys_enabled=True)
    mine = make_toolset(slug="mine", tools=[make_tool(name="mine")])
    make_toolset(slug="other", tools=[make_tool(name="other")])
    _, key = make_client(toolsets=[mine])
    door.start()
    listed = message("tools/list", MODERN)
    headers = {**headers_for(listed, MODERN), "Authorization": f"Bearer {key}"}
    answer = httpx2.post(f"{door.url}/mcp", json=listed, headers=headers)
    assert [tool["name"] for tool in answer.json()["result"]["tools"]] == ["mine"]
    hidden = message("tools/call", MODERN, name="other", arguments={})
    headers = {**headers_for(hidden, MODERN), "Authorization": f"Bearer {key}"}
    answer = httpx2.post(f"{door.url}/mcp", json=hidden, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)
    assert backend.calls == {}


@pytest.mark.parametrize(
    "change",
    [
        {"id": True},
        {"id": None},
        {"id": 1.5},
        {"jsonrpc": "1.0"},
        {"method": "ping"},
        {"method": ["tools/call"]},
        {"extra": 1},
        {"params": []},
        {"params": {"name": "echo", "arguments": []}},
        {"params": {"name": 7}},
        {"params": {"name": "echo", "cursor": "x"}},
    ],
    ids=str,
)
def test_anything_unusual_is_left_to_the_sdk(change: dict[str, Any]) -> None:
    body = {**message("tools/call", "2025-11-25", name="echo"), **change}
    raw = [
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"mcp-protocol-version", b"2025-11-25"),
    ]
    assert ordinary(raw, json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    "header",
    [
        (b"mcp-param-x", b"1"),
        (b"mcp-protocol-version", b"2025-11-25"),
        (b"accept", b"*/*"),
    ],
)
def test_unusual_headers_are_left_to_the_sdk(header: tuple[bytes, bytes]) -> None:
    body = message("tools/call", "2025-11-25", name="echo")
    raw = [
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"mcp-protocol-version", b"2025-11-25"),
    ]
    assert ordinary(raw, json.dumps(body).encode()) is not None
    assert ordinary([*raw, header], json.dumps(body).encode()) is None


@given(st.binary() | st.text().map(str.encode) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "name", "_meta", "arguments"]), inner
    ),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_body_can_break_the_recognition(body: bytes) -> None:
    raw = [
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"mcp-protocol-version", b"2026-07-28"),
        (b"mcp-method", b"tools/call"),
        (b"mcp-name", b"\xff"),
    ]
    assert ordinary(raw, body) is None
