"""The scriptable upstream behind a port: Streamable HTTP, with sessions and without."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

from typing_extensions import override

from tests.mcp_upstream_peer import HANDSHAKE, MODERN, Client, Message, Peer
from tests.mcp_upstream_tools import Garbage
from tests.mcp_upstream_wire import (
    STREAM_END,
    STREAM_HEAD,
    HttpConnection,
    event,
    header,
    response,
)

NOT_JSON = b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [\xff\xfe'


class Server:
    """The sessions of a running server."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.sessions: dict[str, Client] = {}

    def client_of(self, session: str) -> Client | None:
        """Who has that session; None when it is not known, or no longer."""
        client = self.sessions.get(session)
        if client is None or client.forget != self.peer.folder.switches().forget:
            return None
        return client

    def open_session(self) -> tuple[str, Client]:
        name = uuid.uuid4().hex
        self.sessions[name] = Client(forget=self.peer.folder.switches().forget)
        return name, self.sessions[name]


class Connection(HttpConnection):
    """One connection; what it asked for ends when it is closed."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._streaming = False
        self._extra = b""

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._server.peer.unsubscribe(self)
        if self._task is not None:
            self._task.cancel()

    @override
    def received(self, head: bytes, body: bytes) -> None:
        self._task = asyncio.get_running_loop().create_task(self._serve(head, body))

    async def _serve(self, head: bytes, body: bytes) -> None:
        switches = self._server.peer.folder.switches()
        self._streaming, self._extra = False, b""
        if switches.hang == "all":
            await asyncio.Event().wait()
        if switches.refuse:
            self.transport.write(response(b'{"detail": "not now"}', switches.refuse))
        elif switches.garbage:
            self.transport.write(response(NOT_JSON))
        elif head.startswith(b"POST "):
            await self._post(head, json.loads(body))
        elif head.startswith(b"GET "):
            self._listen(head)
        else:
            self._server.sessions.pop(header(head, b"mcp-session-id").decode(), None)
            self.transport.write(response(b"", 200))

    def _listen(self, head: bytes) -> None:
        if self._server.client_of(header(head, b"mcp-session-id").decode()) is None:
            self.transport.write(response(b"", 405))
            return
        self._open_stream()
        self._server.peer.subscribe(self, self._tell)

    async def _post(self, head: bytes, message: Message) -> None:
        client, refusal = self._admit(head, message)
        if client is None:
            self.transport.write(refusal)
        elif "id" in message and "method" in message:
            await self._request(head, message, client)
        else:
            self._server.peer.heard(message, client)
            self.transport.write(response(b"", 202))

    def _admit(self, head: bytes, message: Message) -> tuple[Client | None, bytes]:
        """Who asks, or the answer to a request that is not understood."""
        era = self._server.peer.folder.switches().era
        version = header(head, b"mcp-protocol-version").decode()
        session = header(head, b"mcp-session-id").decode()
        if version == MODERN:
            if era == "handshake":
                return None, _error(message, 400, -32000, "Unsupported protocol version")
            return Client(), b""
        if era == "modern" or (version and version not in HANDSHAKE):
            return None, _error(message, 400, -32022, "Unsupported protocol version")
        if message.get("method") == "initialize":
            name, opened = self._server.open_session()
            self._extra = b"Mcp-Session-Id: %s\r\n" % name.encode()
            return opened, b""
        if not session:
            return None, _error(message, 400, -32000, "Missing session ID")
        client = self._server.client_of(session)
        return client, b"" if client else _error(message, 404, -32001, "Session not found")

    async def _request(self, head: bytes, message: Message, client: Client) -> None:
        switches = self._server.peer.folder.switches()
        if switches.stream:
            self._open_stream()
        try:
            answer = await self._server.peer.answer(message, client, self._tell, _headers(head))
        except Garbage:
            self.transport.write(response(NOT_JSON))
            return
        if self._streaming and switches.break_stream:
            self.transport.close()
        elif self._streaming:
            self.transport.write(event(answer) + STREAM_END)
        else:
            whole = response(json.dumps(answer).encode(), _status(answer), self._extra)
            called = message["method"] == "tools/call"
            await self._write(whole, switches.trickle_ms if called else 0)

    async def _write(self, whole: bytes, pause_ms: int) -> None:
        pieces = [whole[at : at + 1] for at in range(len(whole))] if pause_ms else [whole]
        for piece in pieces:
            self.transport.write(piece)
            await asyncio.sleep(pause_ms / 1000)

    def _open_stream(self) -> None:
        if not self._streaming:
            self._streaming = True
            self.transport.write(STREAM_HEAD + self._extra + b"\r\n")

    async def _tell(self, message: Message) -> None:
        self._open_stream()
        self.transport.write(event(message))


def _headers(head: bytes) -> dict[str, str]:
    lines = [line.decode("latin-1").partition(":") for line in head.split(b"\r\n")[1:]]
    return {name.lower(): value.strip() for name, _, value in lines}


def _status(answer: Message) -> int:
    """As servers of the stateless era answer what they cannot do."""
    return {-32601: 404, -32022: 400}.get(answer.get("error", {}).get("code", 0), 200)


def _error(message: Any, status: int, code: int, words: str) -> bytes:
    error = {"code": code, "message": words}
    body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
    return response(json.dumps(body).encode(), status)


async def serve(peer: Peer, port: int) -> None:
    """Serve until the program is ended."""
    server = Server(peer)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(
        lambda: Connection(server), "127.0.0.1", port, reuse_address=True, backlog=512
    )
    await listening.serve_forever()
