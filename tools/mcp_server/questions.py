"""Asking clients of the handshake era over Streamable HTTP, whose messages arrive apart.

A question travels on the stream of the call it belongs to. Its answer is a message of its own, which
may land on any web process and is handed to the one that waits. Whether a client can be asked it says
once, in its first message; that is kept in its session id, which is good on every process.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

import mcp_types as types
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Message, Send

from tools.execution.runtime import serving
from tools.mcp_server.cancellations import LONGEST_ID, SESSION_HEADER, Key, caller_now

TOPIC: Final = "answer"
# The end of the session ids of clients whose users can be asked.
ELICITS: Final = "-elicits"
# Where a request has the stream on which it is answered.
STREAM: Final = "answer_stream"

_waiting: dict[Key, asyncio.Future[Mapping[str, Any]]] = {}


class AnswerStream:
    """The answer to one request as it is sent, for messages of ours in between."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = asyncio.Event()

    async def send(self, part: Message) -> None:
        """What the SDK sends."""
        await self._send(part)
        if part["type"] == "http.response.start" and _is_stream(part):
            self._begun.set()

    async def say(self, message: Mapping[str, Any]) -> None:
        """Send a message before the answer."""
        await self._begun.wait()
        event = b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n"
        await self._send({"type": "http.response.body", "body": event, "more_body": True})


def marked(label: str, message: types.JSONRPCRequest) -> str:
    """The session id of a client that begins with `message`."""
    capabilities = (message.params or {}).get("capabilities")
    elicits = isinstance(capabilities, Mapping) and isinstance(
        capabilities.get("elicitation"), Mapping
    )
    return f"{label}{ELICITS}" if elicits else label


def can_be_asked(request: Any) -> TypeGuard[Request]:
    """Whether the client that made the HTTP request can be asked something meanwhile."""
    return (
        isinstance(request, Request)
        and STREAM in request.scope
        and _session(request).endswith(ELICITS)
    )


async def ask(request: Request, caller: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """The client's result to `question`, a method and its params; `caller` is who made the request.

    Raises:
        MCPError: it answered with an error.
    """
    number = f"ask-{secrets.token_hex(8)}"
    key = (_session(request), caller, json.dumps(number))
    answer = _waiting[key] = asyncio.get_running_loop().create_future()
    try:
        stream: AnswerStream = request.scope[STREAM]
        await stream.say({"jsonrpc": "2.0", "id": number, **question})
        given = await answer
    finally:
        del _waiting[key]
    error = given.get("error")
    if isinstance(error, Mapping):
        raise MCPError(int(error.get("code", 0)), str(error.get("message", "")))
    result = given.get("result")
    return result if isinstance(result, Mapping) else {}


async def note(session: str, message: types.JSONRPCMessage) -> None:
    """Take a message that answers a question, wherever that was asked."""
    if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
        return
    if not session.endswith(ELICITS) or len(session) > LONGEST_ID:
        return
    given = message.model_dump(by_alias=True, mode="json", exclude_none=True)
    key = (session, caller_now(), json.dumps(given.get("id")))
    if not _take(key, given):
        await serving().relay.broadcast(TOPIC, json.dumps([key, given]))


async def heard(topic: str, body: str) -> None:
    """An answer that reached another process."""
    (session, caller, number), given = json.loads(body)
    _take((session, caller, number), given)


def _take(key: Key, given: Mapping[str, Any]) -> bool:
    answer = _waiting.get(key)
    if answer is None:
        return False
    if not answer.done():
        answer.set_result(given)
    return True


def _session(request: Request) -> str:
    label = request.headers.get(SESSION_HEADER, "")
    return label if len(label) <= LONGEST_ID else ""


def _is_stream(part: Message) -> bool:
    headers = dict(part.get("headers", ()))
    return bytes(headers.get(b"content-type", b"")).startswith(b"text/event-stream")
