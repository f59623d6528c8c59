"""Clients that send whatever bytes they are told to, over every network door and in both eras."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import httpx2
from mcp.shared.inbound import encode_header_value
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.tools.mcp_server.clients import Way

PATIENCE: Final = 5.0
VERSIONS: Final = {"legacy": "2025-11-25", "auto": "2026-07-28"}
ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS["auto"],
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
INITIALIZE: Final = {
    "protocolVersion": VERSIONS["legacy"],
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status of an HTTP answer, a JSON-RPC message, or the code of a close."""

    status: int = 0
    message: Any = None
    closed: int | None = None
    text: str = ""

    @property
    def error(self) -> dict[str, Any]:
        """The JSON-RPC error; empty when there is none."""
        found = self.message.get("error") if isinstance(self.message, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def result(self) -> dict[str, Any]:
        """The JSON-RPC result; empty when there is none."""
        found = self.message.get("result") if isinstance(self.message, dict) else None
        return found if isinstance(found, dict) else {}


class RawClient(Protocol):
    """One open way in."""

    def send(self, raw: str | bytes, headers: Mapping[str, str] | None = None) -> Answer:
        """Send it, and give back the first answer to it."""


def request(
    way: Way, method: str, params: Mapping[str, Any] | None = None, number: Any = 1
) -> dict[str, Any]:
    """A JSON-RPC request of the client's era."""
    filled = dict(params or {})
    if way.mode == "auto":
        filled["_meta"] = {**ENVELOPE, **filled.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": filled}


def headers_for(way: Way, message: Any) -> dict[str, str]:
    """What a client of Streamable HTTP sends along with a message."""
    headers = {**ACCEPT, "Content-Type": "application/json"}
    headers["MCP-Protocol-Version"] = VERSIONS[way.mode]
    if way.mode == "auto" and isinstance(message, dict):
        method, params = message.get("method"), message.get("params")
        headers["Mcp-Method"] = method if isinstance(method, str) and method.isascii() else "x"
        named = params.get(_NAMED_BY.get(str(method), "")) if isinstance(params, dict) else None
        if isinstance(named, str):
            headers["Mcp-Name"] = _header_value(named)
    return headers


def _header_value(text: str) -> str:
    try:
        return encode_header_value(text)
    except UnicodeEncodeError:
        return "x"


@contextmanager
def raw_client(url: str, way: Way, key: str = "") -> Iterator[RawClient]:
    """A client past the handshake of its era, if that has one."""
    auth = {"Authorization": f"Bearer {key}"} if key else {}
    opening = {"streamable_http": _streamable, "sse": _sse, "websocket": _websocket}
    with opening[way.transport](url, way, auth) as client:
        if way.mode == "legacy" and way.transport != "streamable_http":
            opened = client.send(json.dumps(request(way, "initialize", INITIALIZE, "first")))
            assert opened.result["protocolVersion"] == VERSIONS["legacy"]
        yield client


class _Streamable:
    def __init__(self, http: httpx2.Client, way: Way) -> None:
        self._http = http
        self._way = way

    def send(self, raw: str | bytes, headers: Mapping[str, str] | None = None) -> Answer:
        content = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
        try:
            message = json.loads(content)
        except (ValueError, RecursionError):
            message = None
        sent = {**headers_for(self._way, message), **(headers or {})}
        return http_answer(self._http.post("/mcp", content=content, headers=sent))


@contextmanager
def _streamable(url: str, way: Way, auth: dict[str, str]) -> Iterator[RawClient]:
    with httpx2.Client(base_url=url, headers=auth, timeout=PATIENCE) as http:
        yield _Streamable(http, way)


class _Sse:
    def __init__(self, http: httpx2.Client, lines: Iterator[str], where: str) -> None:
        self._http = http
        self._lines = lines
        self._where = where

    def send(self, raw: str | bytes, headers: Mapping[str, str] | None = None) -> Answer:
        content = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
        sent = {"Content-Type": "application/json", **(headers or {})}
        posted = self._http.post(self._where, content=content, headers=sent)
        if posted.status_code != 202:
            return http_answer(posted)
        line = next(line for line in self._lines if line.startswith("data: "))
        return Answer(200, json.loads(line[6:]), text=line)


@contextmanager
def _sse(url: str, way: Way, auth: dict[str, str]) -> Iterator[RawClient]:
    with (
        httpx2.Client(base_url=url, headers=auth, timeout=PATIENCE) as http,
        http.stream("GET", "/sse") as stream,
    ):
        assert stream.status_code == 200
        lines = stream.iter_lines()
        where = next(line for line in lines if line.startswith("data: "))[6:]
        yield _Sse(http, lines, where)


class _WebSocket:
    def __init__(self, socket: Any) -> None:
        self._socket = socket

    def send(self, raw: str | bytes, headers: Mapping[str, str] | None = None) -> Answer:
        try:
            self._socket.send(raw, text=True)
            text = str(self._socket.recv(PATIENCE))
        except ConnectionClosed as closed:
            return Answer(closed=closed.rcvd.code if closed.rcvd else 1006)
        return Answer(200, json.loads(text), text=text)


@contextmanager
def _websocket(url: str, way: Way, auth: dict[str, str]) -> Iterator[RawClient]:
    address = url.replace("http", "ws", 1) + "/ws"
    with connect(address, additional_headers=auth, max_size=None, open_timeout=PATIENCE) as socket:
        yield _WebSocket(socket)


def http_answer(response: httpx2.Response) -> Answer:
    """The message in an HTTP answer, plain or as a stream of events."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        found = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
        text = found[-1] if found else ""
    try:
        message = json.loads(text)
    except ValueError:
        message = None
    return Answer(response.status_code, message, text=response.text)
