"""Cancelling by message, where messages of one client arrive apart.

Handshake-era clients of Streamable HTTP cancel a call with a message of its own, which may land on
any web process. Each gets a session id at its first message: a label that nothing hangs on but
this, so it outlives restarts and is good on every process. A call is found by that label, the id
of its message and its caller.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from starlette.requests import Request
from starlette.types import Message, Send

from tools.execution import identity
from tools.execution.ending import cancel_once
from tools.execution.runtime import serving
from tools.mcp_server.peer import current_peer

SESSION_HEADER: Final = "mcp-session-id"
TOPIC: Final = "cancel"
LONGEST_ID: Final = 200
CANCELLED: Final = "notifications/cancelled"
INITIALIZE: Final = "initialize"
_NOTHING_CAN: Final = nullcontext()

Key = tuple[str, str, str]
Cancel = Callable[[], None]
_running: dict[Key, Cancel] = {}


@contextmanager
def cancellable(ctx: ServerRequestContext[Any, Any], task: asyncio.Task[Any]) -> Iterator[None]:
    """Let a later message of the same client cancel `task`."""
    session = ""
    if isinstance(ctx.request, Request) and ctx.request_id is not None:
        session = ctx.request.headers.get(SESSION_HEADER, "")
    with cancellable_by(session, ctx.request_id, partial(cancel_once, task)):
        yield


def cancellable_by(
    session: str, request_id: str | int | None, cancel: Cancel
) -> AbstractContextManager[None]:
    """The same, for a message whose session and id are at hand. Without a session nothing can."""
    if not 0 < len(session) <= LONGEST_ID:
        return _NOTHING_CAN
    return _listed((session, caller_now(), json.dumps(request_id)), cancel)


@contextmanager
def _listed(key: Key, cancel: Cancel) -> Iterator[None]:
    _running[key] = cancel
    try:
        yield
    finally:
        # A client may use an id twice at the same time; the later call keeps its place.
        if _running.get(key) is cancel:
            del _running[key]


def caller_now() -> str:
    """Who sent the message that is being handled."""
    peer = current_peer.get()
    caller = peer.caller or identity.identify(peer.credentials, serving().directory.catalogue)
    return caller.identifier


async def note(session: str, message: types.JSONRPCMessage) -> None:
    """Act on a message that cancels a call, wherever that call runs."""
    if not isinstance(message, types.JSONRPCNotification) or message.method != CANCELLED:
        return
    asked = (message.params or {}).get("requestId")
    if not isinstance(asked, str | int) or not 0 < len(session) <= LONGEST_ID:
        return
    key = (session, caller_now(), json.dumps(asked))
    if not stop(key):
        await serving().relay.broadcast(TOPIC, json.dumps(key))


def stop(key: Key) -> bool:
    """Cancel a call of this process. False when there is none."""
    cancel = _running.get(key)
    if cancel is None:
        return False
    cancel()
    return True


async def heard(topic: str, body: str) -> None:
    """A cancellation that reached another process."""
    session, caller, asked = json.loads(body)
    stop((session, caller, asked))


def labelled(
    message: types.JSONRPCMessage, send: Send, mark: Callable[[str, types.JSONRPCRequest], str]
) -> Send:
    """A `send` that gives a new client its session id along with the answer to its first message.

    `mark` adds to the id what is to be known of the client later.
    """
    if not isinstance(message, types.JSONRPCRequest) or message.method != INITIALIZE:
        return send
    given = mark(secrets.token_hex(16), message)

    async def sending(part: Message) -> None:
        if part["type"] == "http.response.start" and part["status"] == 200:
            label = (SESSION_HEADER.encode(), given.encode())
            part = {**part, "headers": [*part["headers"], label]}
        await send(part)

    return sending
