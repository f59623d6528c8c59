"""HTTP requests no sound client would send: odd methods, paths and headers, slow bodies, foreign sessions."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way
from tests.tools.mcp_server.raw_doors import headers_for, request
from tools.mcp_server import bodies
from tools.mcp_server.transports import sse

STREAMABLE = [way for way in WAYS if way.transport == "streamable_http"]
ADDRESSES = ("/mcp", "/sse", "/ws", "/messages/")
METHODS = ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")
JUNK = (
    "%00",
    "%ff%fe",
    "%2e%2e",
    "%2f..%2f",
    "a%0d%0aX:1",
    "%f0%9f%92%a9",
    "%",
    "'%20or%201=1",
    "",
)


@pytest.fixture
def serving(door: RestDoor) -> RestDoor:
    make_service(security_rate_limit=100_000)
    make_tool(name="echo")
    return door.start()


@pytest.fixture
def http(serving: RestDoor) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=serving.url, timeout=5) as client:
        yield client


def is_clear(answer: httpx2.Response) -> bool:
    """A refusal that says nothing of what happens inside."""
    inside = [word for word in ("Traceback", 'File "', "Exception", "<html") if word in answer.text]
    return 400 <= answer.status_code < 500 and not inside


@pytest.mark.parametrize("address", ADDRESSES)
def test_other_methods_are_refused(http: httpx2.Client, address: str) -> None:
    for method in METHODS:
        for version in (None, "2025-11-25", "2026-07-28"):
            headers = {"MCP-Protocol-Version": version} if version else {}
            answer = http.request(method, address, headers=headers)
            expected = 404 if address == "/ws" else 405
            assert (answer.status_code, is_clear(answer)) == (expected, True), (method, version)


@pytest.mark.parametrize("address", ADDRESSES)
def test_there_is_nothing_at_odd_addresses(serving: RestDoor, address: str) -> None:
    for junk in JUNK:
        path = f"{address.rstrip('/')}/{junk}" if junk or address != "/messages/" else "/messages"
        for verb in ("GET", "POST"):
            answer = raw_exchange(serving.url, f"{verb} {path} HTTP/1.1")
            status = int(answer.split()[1])
            # The SSE door looks at the method first.
            known = {404, 405} if (address, verb) == ("/sse", "POST") else {404}
            assert status in known, (verb, path, answer)


def test_an_odd_toolset_is_not_there_for_a_websocket_either(serving: RestDoor) -> None:
    for junk in ("none", "%00", "%ff", "%2e%2e"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"{serving.url.replace('http', 'ws', 1)}/ws/{junk}")
        assert refused.value.response.status_code == 404


ODD_HEADERS: tuple[tuple[str, str | bytes], ...] = (
    ("Accept", ""),
    ("Accept", "text/html"),
    ("Accept", "application/json"),
    ("Content-Type", ""),
    ("Content-Type", "text/plain"),
    ("Content-Type", "multipart/form-data; boundary=x"),
    ("MCP-Protocol-Version", ""),
    ("MCP-Protocol-Version", "2030-01-01"),
    ("MCP-Protocol-Version", b"\xff"),
    ("Host", "evil.example"),
    ("Host", "[::1"),
    ("Host", ""),
    ("Origin", "http://[::"),
    ("Origin", b"\xff"),
    ("Authorization", b"Bearer \xff"),
    ("X-API-Key", b"\xff\xfe"),
)
HARMLESS_HEADERS: tuple[tuple[str, str | bytes], ...] = (
    ("Mcp-Session-Id", "x" * 4000),
    ("Mcp-Session-Id", b"\xff"),
    ("Mcp-Session-Id", ""),
    ("Last-Event-ID", "-1"),
    ("Last-Event-ID", b"\xff' or 1=1"),
    ("Accept", "*/*"),
    ("Content-Type", "application/json; charset=utf-16"),
    ("Authorization", "Basic Zm9vOmJhcg=="),
    ("Mcp-Param-X", "=?base64?/w==?="),
)


def sent(
    http: httpx2.Client, way: Way, name: str, value: str | bytes
) -> tuple[httpx2.Response, Any]:
    message = request(way, "tools/call", {"name": "echo", "arguments": {"n": 1}})
    plain = {key: one for key, one in headers_for(way, message).items() if key != name}
    headers: Mapping[str, str | bytes] = {**plain, name: value}
    answer = http.post("/mcp", content=json.dumps(message), headers=headers)  # type: ignore[arg-type]
    return answer, name


@pytest.mark.parametrize("way", STREAMABLE, ids=str)
def test_odd_headers_are_refused(http: httpx2.Client, way: Way) -> None:
    for name, value in ODD_HEADERS:
        answer, _ = sent(http, way, name, value)
        assert is_clear(answer), (name, value, answer.status_code, answer.text)


@pytest.mark.parametrize("way", STREAMABLE, ids=str)
def test_headers_that_do_not_matter_do_no_harm(http: httpx2.Client, way: Way) -> None:
    for name, value in HARMLESS_HEADERS:
        answer, _ = sent(http, way, name, value)
        assert answer.status_code == 200, (name, value, answer.text)
        assert '"isError":false' in answer.text.replace(" ", "")


@pytest.mark.parametrize(
    "accepted", ["*/*", "text/*", "text/event-stream", "text/event-stream;q=0.5"]
)
def test_every_stream_of_notices_ends_with_the_process(serving: RestDoor, accepted: str) -> None:
    from controlplane.application import mcp_doors

    headers = {"Accept": accepted, "Last-Event-ID": "7", "Mcp-Session-Id": "no such session"}
    with httpx2.stream("GET", f"{serving.url}/mcp", headers=headers, timeout=10) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": open"
        assert serving.loop is not None
        serving.loop.call_soon_threadsafe(mcp_doors.close_streams)
        assert "".join(lines) == ""


@pytest.mark.parametrize("address", ["/mcp", "/messages/?session_id=x"])
def test_a_body_that_never_ends_is_refused_after_a_while(
    serving: RestDoor, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(bodies, "SLOWEST_BODY", 0.5)
    head = f"POST {address} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100"
    began = time.monotonic()
    answer = raw_exchange(serving.url, head, b'{"jsonrpc"')
    assert answer.startswith("HTTP/1.1 400")
    assert "did not arrive" in answer
    assert time.monotonic() - began < 5


def test_a_client_that_reads_nothing_is_let_go(
    serving: RestDoor, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "SLOWEST_READER", 0.5)
    parts, way = urlsplit(serving.url), WAYS[3]
    large = {"result": {"text": "x" * 500_000}}
    with socket.socket() as idle:
        # More than the kernel keeps for a client waits for this one.
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        idle.connect((parts.hostname, parts.port))
        idle.sendall(f"GET /sse HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        opened = b""
        while b"session_id=" not in opened or not opened.endswith(b"\n"):
            opened += idle.recv(512)
        where = opened.partition(b"data: ")[2].split()[0].decode()

        def is_over() -> bool:
            call = request(way, "tools/call", {"name": "echo", "arguments": large})
            return http.post(where, json=call).status_code == 404

        wait_until(is_over, what="the end of its session")


def raw_exchange(url: str, head: str, body: bytes = b"") -> str:
    """The first part of what comes back for a request written by hand."""
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 80), timeout=10) as raw:
        raw.sendall(f"{head}\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode() + body)
        answer = b""
        while more := raw.recv(4096):
            answer += more
    return answer.decode("utf-8", "replace")


def test_the_session_of_another_caller_looks_like_none(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    make_tool(name="echo")
    keys = [make_client()[1] for _ in range(2)]
    door.start()
    mine, other = ({"Authorization": f"Bearer {key}"} for key in keys)
    message = request(WAYS[2], "tools/list")
    with httpx2.stream("GET", f"{door.url}/sse", headers=mine, timeout=10) as stream:
        lines = stream.iter_lines()
        where = next(line for line in lines if line.startswith("data: "))[6:]
        foreign = httpx2.post(f"{door.url}{where}", json=message, headers=other)
        nowhere = httpx2.post(f"{door.url}/messages/?session_id=x", json=message, headers=other)
        for answer in (foreign, nowhere):
            assert answer.status_code == 404
        assert foreign.json() == nowhere.json()
        assert httpx2.post(f"{door.url}{where}", json=message).status_code == 401
        assert httpx2.post(f"{door.url}{where}", json=message, headers=mine).status_code == 202


@pytest.mark.parametrize(
    "query", ["", "?session_id=", "?session_id=%00", "?session_id=%ff", "?session_id=" + "x" * 4000]
)
def test_an_odd_session_is_none(http: httpx2.Client, query: str) -> None:
    answer = http.post(f"/messages/{query}", json=request(WAYS[2], "tools/list"))
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        404,
        "There is no such session",
    )
