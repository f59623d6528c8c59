"""What the network doors refuse before a message is read."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx2
import pytest
import websockets
from anyio.from_thread import start_blocking_portal
from websockets.exceptions import InvalidStatus

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.journal import rows

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/list",
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
DOORS = ("/mcp", "/sse", "/ws")


def knock(door: RestDoor, path: str, headers: dict[str, str]) -> tuple[int, dict[str, Any], Any]:
    """Status, error object and headers of what a door answers."""
    door.start() if not door.url else None
    if path.startswith("/ws"):
        return _knock_websocket(door.url, path, headers)
    if path.startswith("/sse"):
        with httpx2.stream("GET", door.url + path, headers=headers) as answer:
            body = answer.read() if answer.status_code != 200 else b"{}"
        return answer.status_code, json.loads(body).get("error", {}), answer.headers
    answer = httpx2.post(door.url + path, json=LIST, headers={**HEADERS, **headers})
    return answer.status_code, answer.json().get("error", {}), answer.headers


def _knock_websocket(
    url: str, path: str, headers: dict[str, str]
) -> tuple[int, dict[str, Any], Any]:
    origin = headers.get("Origin")
    host = headers.get("Host")
    plain = {name: value for name, value in headers.items() if name not in {"Origin", "Host"}}

    async def connect() -> tuple[int, dict[str, Any], Any]:
        address = url.replace("http", "ws", 1) + path
        options: dict[str, Any] = {"additional_headers": plain}
        if origin is not None:
            options["origin"] = origin
        if host is not None:
            parts = httpx2.URL(url)
            address = f"ws://{host}{path}"
            options |= {"host": parts.host, "port": parts.port}
        try:
            async with websockets.connect(address, **options):
                return 200, {}, {}
        except InvalidStatus as refused:
            response = refused.response
            return response.status_code, json.loads(response.body)["error"], response.headers

    with start_blocking_portal() as portal:
        answered: tuple[int, dict[str, Any], Any] = portal.call(connect)
    return answered


@pytest.mark.parametrize("path", DOORS)
def test_another_host_name_is_refused(door: RestDoor, path: str) -> None:
    status, error, _ = knock(door, path, {"Host": "evil.example"})
    assert status == 403
    assert error["data"]["parameter"] == "Host"


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
        ("https://app.example", 200),
        ("http://localhost:3000", 200),
    ],
)
def test_only_known_origins_get_in(door: RestDoor, path: str, origin: str, status: int) -> None:
    make_service(cors_allowed_origins=["https://app.example"])
    answered, error, _ = knock(door, path, {"Origin": origin})
    assert answered == status
    assert error.get("data", {}).get("parameter") == ("Origin" if status == 403 else None)


@pytest.mark.parametrize("path", DOORS)
def test_no_other_origin_gets_in_while_cors_is_off(door: RestDoor, path: str) -> None:
    make_service(cors_enabled=False, cors_allowed_origins=["https://app.example"])
    for origin in ("https://app.example", "http://localhost:3000"):
        assert knock(door, path, {"Origin": origin})[0] == 403
    assert knock(door, path, {"Origin": door.url})[0] == 200


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"X-API-Key": "wrong"}, 401),
        ({"Authorization": "Bearer {key}"}, 200),
        ({"X-API-Key": "{key}"}, 200),
    ],
)
def test_a_key_is_needed_where_keys_are_on(
    door: RestDoor, path: str, headers: dict[str, str], status: int
) -> None:
    make_service(security_api_keys_enabled=True)
    _, key = make_client()
    filled = {name: value.format(key=key) for name, value in headers.items()}
    answered, _, got = knock(door, path, filled)
    assert answered == status
    if status == 401:
        assert got["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", DOORS)
def test_a_toolset_that_was_not_granted_is_not_there(door: RestDoor, path: str) -> None:
    make_service(security_api_keys_enabled=True)
    mine = make_toolset(slug="mine")
    make_toolset(slug="hidden")
    _, key = make_client(toolsets=[mine])
    sent = {"Authorization": f"Bearer {key}"}
    assert knock(door, f"{path}/mine", sent)[0] == 200
    hidden = knock(door, f"{path}/hidden", sent)
    missing = knock(door, f"{path}/missing", sent)
    assert hidden[0] == missing[0] == 404
    assert hidden[1]["message"].replace("hidden", "missing") == missing[1]["message"]


def test_a_body_that_is_too_large_is_refused_unread(door: RestDoor) -> None:
    door.start()
    answer = httpx2.post(door.url + "/mcp", content=b" " * (1 << 20) + b"{}", headers=HEADERS)
    assert answer.status_code == 413
    assert answer.json()["error"]["data"]["expected"] == "at most 1048576 bytes"


@pytest.mark.parametrize(  # F0-31 S4-060
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"[]", 400, -32600),
        (b'"text"', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 400, -32600),
        (b"\xff\xfe", 400, -32700),
        (b"[" * 100_000, 400, -32700),
        (b"1" * 10_000, 400, -32700),
    ],
)
def test_what_is_no_request_is_refused_in_the_protocols_own_words(
    door: RestDoor, body: bytes, status: int, code: int
) -> None:
    make_tool(name="echo")
    door.start()
    answer = httpx2.post(
        door.url + "/mcp", content=body, headers={**HEADERS, "Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert rows() == []


def test_an_unknown_method_is_not_found(door: RestDoor) -> None:  # S4-060
    door.start()
    message = {**LIST, "method": "tools/dance"}
    answer = httpx2.post(
        door.url + "/mcp", json=message, headers={**HEADERS, "Mcp-Method": "tools/dance"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


def test_blanks_around_header_values_do_not_count(door: RestDoor) -> None:
    door.start()
    body = json.dumps(LIST).encode()
    fields = {**HEADERS, "Mcp-Method": "tools/list  ", "Content-Type": "application/json"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    parts = httpx2.URL(door.url)
    with socket.create_connection((parts.host, parts.port or 80), timeout=10) as connection:
        connection.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: {parts.host}\r\n{head}"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        assert connection.recv(12) == b"HTTP/1.1 200"


def test_headers_must_say_what_the_message_says(door: RestDoor) -> None:
    door.start()
    answer = httpx2.post(
        door.url + "/mcp", json=LIST, headers={**HEADERS, "Mcp-Method": "tools/call"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
