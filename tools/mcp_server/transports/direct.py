"""Ordinary messages of Streamable HTTP, straight from the request to the path and back.

What is answered is what the SDK would answer, at a fraction of its cost; tests hold the two
against each other. A call that takes long is answered on a stream that is kept alive, and one whose
client hangs up is cancelled, as the SDK does it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final, cast

import orjson
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, X_MCP_HEADER_KEY
from mcp_types import INVALID_REQUEST, SERVER_INFO_META_KEY
from starlette.types import Receive, Send

from tools.contracts import Envelope, ToolCall, ToolSource, ToolSpec
from tools.execution import execute
from tools.execution.aim import GENERIC
from tools.execution.ending import cancel_once
from tools.execution.runtime import serving
from tools.mcp_server import listing
from tools.mcp_server.calls import call_of
from tools.mcp_server.cancellations import cancellable_by
from tools.mcp_server.peer import current_peer
from tools.mcp_server.questions import ELICITS
from tools.mcp_server.results import call_result
from tools.mcp_server.server import LIST_TTL_MS, CatalogueServer, presentation
from tools.mcp_server.transports.ordinary import LIST, Ordinary
from tools.tracing import trace_of

# Seconds after which a call counts as long enough to be worth watching its client.
LOOK_AFTER: Final = 0.05
# Seconds after which a client is told that its answer will come on a stream.
STREAM_AFTER: Final = 10.0
PING_SECONDS: Final = 15.0
_STREAM_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class DirectLane:
    """Serves what `ordinary` recognised."""

    def __init__(self, server: CatalogueServer) -> None:
        self._server = server

    def takes(self, message: Ordinary) -> bool:
        """Whether the tool is an ordinary one as well."""
        if message.method == LIST:
            return True
        if message.name in self._server.answers_itself:
            return False
        directory = serving().directory
        if not message.modern and message.session.endswith(ELICITS) and _asks(message.name):
            return False
        known = directory.memo.get(message.name)
        if known is None:
            spec = directory.catalogue.tools.get(message.name)
            if spec is None:
                return False
            known = directory.memo[message.name] = _is_plain(spec)
        return bool(known)

    async def serve(self, message: Ordinary, receive: Receive, send: Send) -> None:
        """Answer one message."""
        if message.method == LIST:
            await _send_json(send, _listed(message))
            return
        made = call_of(
            message.name,
            message.arguments,
            message.meta,
            trace=trace_of(message.meta, message.headers),
            caller=current_peer.get().caller,
            in_rounds=message.takes_questions,
        )
        await _Exchange(message, receive, send).run(made)


class _Exchange:
    """One call and the client that waits for it.

    The call runs in the task of its request. Only one that takes long gets company: tasks that
    watch its client, and tell it that the answer is still to come.
    """

    def __init__(self, message: Ordinary, receive: Receive, send: Send) -> None:
        self._message = message
        self._receive = receive
        self._send = send
        self._task = cast(asyncio.Task[Any], asyncio.current_task())
        self._company: list[asyncio.Task[None]] = []
        self._cancelled = self._gone = self._streaming = False

    async def run(self, call: ToolCall) -> None:
        looking = asyncio.get_running_loop().call_later(LOOK_AFTER, self._accompany)
        envelope = None
        try:
            with cancellable_by(self._message.session, self._message.id, self._cancel):
                envelope = await execute(call)
        except asyncio.CancelledError:
            # Somebody else's wish, such as that of a process that has to leave, is not held up.
            if not self._cancelled or self._task.uncancel():
                raise
        finally:
            looking.cancel()
            for task in self._company:
                task.cancel()
        if not self._gone:
            await self._answer(envelope)

    def _cancel(self) -> None:
        """Nobody wants the call any more."""
        self._cancelled = True
        cancel_once(self._task)

    def _accompany(self) -> None:
        self._company = [asyncio.create_task(self._watch()), asyncio.create_task(self._reassure())]

    async def _watch(self) -> None:
        """A client that hangs up wants its call no more."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._cancel()

    async def _reassure(self) -> None:
        """Begin a stream when the time has come, and keep it alive."""
        await asyncio.sleep(STREAM_AFTER - LOOK_AFTER)
        await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        self._streaming = True
        while True:
            await self._send(
                {"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True}
            )
            await asyncio.sleep(PING_SECONDS)

    async def _answer(self, envelope: Envelope | None) -> None:
        status, body = self._answered(envelope)
        if not self._streaming:
            await _send_json(self._send, body, status)
            return
        event = b"event: message\r\ndata: " + body + b"\r\n\r\n"
        await self._send({"type": "http.response.body", "body": event, "more_body": False})

    def _answered(self, envelope: Envelope | None) -> tuple[int, bytes]:
        message = self._message
        try:
            if envelope is None:
                raise MCPError(INVALID_REQUEST, "The call was cancelled")
            result = call_result(envelope, message.version)
        except MCPError as fault:
            error = fault.error.model_dump(mode="json", exclude_none=True)
            status = ERROR_CODE_HTTP_STATUS.get(fault.code, 200) if message.modern else 200
            return status, encoded({"jsonrpc": "2.0", "id": message.id, "error": error})
        if message.modern:
            result["_meta"][SERVER_INFO_META_KEY] = presentation()
        else:
            del result["resultType"]
        return 200, encoded({"jsonrpc": "2.0", "id": message.id, "result": result})


def _asks(name: str) -> bool:
    """Whether the tool may have questions while it runs, which need the SDK's stream."""
    spec = serving().directory.catalogue.tools.get(name)
    return spec is not None and spec.source is ToolSource.UPSTREAM


def _is_plain(spec: ToolSpec) -> bool:
    """Whether a call of the tool is like any other.

    It is not when it may become a task, when arguments are announced in headers, which the SDK then
    compares, or when it stands for a call of another tool.
    """
    generic = spec.source is ToolSource.BUILTIN and spec.handler == GENERIC
    in_headers = X_MCP_HEADER_KEY in json.dumps(spec.input_schema)
    return not (generic or spec.long_running or in_headers)


def _listed(message: Ordinary) -> bytes:
    """The first page of tools, encoded once per version of the catalogue."""
    shown = listing.current_view()
    opening = b'{"jsonrpc":"2.0","id":' + encoded(message.id) + b',"result":' + shown.first_page
    if not message.modern:
        return opening + b"}}"
    meta = {SERVER_INFO_META_KEY: presentation()}
    rest = {
        "resultType": "complete",
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "private",
        "_meta": meta,
    }
    return opening + b"," + encoded(rest)[1:] + b"}"


def encoded(value: Any) -> bytes:
    """`value` as JSON; huge numbers and halves of surrogate pairs take the slower way."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


async def _send_json(send: Send, body: bytes, status: int = 200) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
