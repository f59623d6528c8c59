"""An MCP server that costs next to nothing: a raw asyncio server with two tools, in both eras.

    python -m bench.gateway_upstream PORT

`echo` answers with its text, `sleep` after `ms` milliseconds. Without the header of a session a
request counts as one of the stateless era.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from typing import Any, Final

import orjson
import uvloop
from typing_extensions import override

from tests.mcp_upstream_wire import HttpConnection, header, response

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
INFO: Final = {"name": "bench-upstream", "version": "1.0"}
CAPABILITIES: Final[dict[str, Any]] = {"tools": {}}
KNOWN: Final = frozenset({"initialize", "ping", "server/discover", "tools/call", "tools/list"})
TOOLS: Final = (
    {
        "name": "echo",
        "description": "Answers with the text it was given.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "maxLength": 1000}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "sleep",
        "description": "Answers after some milliseconds.",
        "inputSchema": {
            "type": "object",
            "properties": {"ms": {"type": "integer", "minimum": 0}},
            "required": ["ms"],
        },
        "annotations": {"readOnlyHint": True},
    },
)


class Upstream(HttpConnection):
    """One connection of a client."""

    @override
    def received(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"POST "):
            self.transport.write(response(b"", 405))
            return
        message = orjson.loads(body)
        if "id" not in message:
            self.transport.write(response(b"", 202))
            return
        method, params = message["method"], message.get("params") or {}
        extra, modern = b"", header(head, b"mcp-protocol-version") == MODERN.encode()
        if method == "tools/call" and params["name"] == "sleep":
            asyncio.get_running_loop().call_later(
                params["arguments"]["ms"] / 1000,
                self._answer,
                message["id"],
                _said("slept", modern),
            )
            return
        if method not in KNOWN:
            error = {"code": -32601, "message": f"Method not found: {method}"}
            answer = orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error})
            self.transport.write(response(answer, 404 if modern else 200))
            return
        if method == "initialize":
            extra = b"Mcp-Session-Id: %s\r\n" % uuid.uuid4().hex.encode()
        self._answer(message["id"], _result(method, params, modern), extra)

    def _answer(self, number: Any, result: Any, extra: bytes = b"") -> None:
        if not self.transport.is_closing():
            answer = orjson.dumps({"jsonrpc": "2.0", "id": number, "result": result})
            self.transport.write(response(answer, 200, extra))


def _said(words: str, modern: bool) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": words}], "isError": False}
    return {**result, "resultType": "complete"} if modern else result


def _result(method: str, params: dict[str, Any], modern: bool) -> dict[str, Any]:
    if method == "tools/call":
        return _said(params["arguments"]["text"], modern)
    if method == "initialize":
        told = {"protocolVersion": HANDSHAKE, "capabilities": CAPABILITIES, "serverInfo": INFO}
        return told
    if method == "ping":
        return {}
    result: dict[str, Any] = {"tools": TOOLS}
    if method == "server/discover":
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        result = {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, "_meta": meta}
    extra = {"resultType": "complete", "ttlMs": 60000, "cacheScope": "public"} if modern else {}
    return {**result, **extra}


async def serve(port: int) -> None:
    listening = await asyncio.get_running_loop().create_server(
        Upstream, "127.0.0.1", port, backlog=512
    )
    await listening.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
