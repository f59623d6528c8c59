"""The messages of one client on a connection of its own, and what it is still owed."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

import anyio
import mcp_types as types
from mcp.shared._context_streams import ContextSendStream
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage

LISTENING: Final = "subscriptions/listen"
CANCELLED: Final = "notifications/cancelled"
# Each holds its answer until the client reads it, so there must be a limit; beyond, it waits.
MOST_OPEN: Final = 100

Incoming = ContextSendStream[SessionMessage | Exception]


class ConversationOver(Exception):
    """The connection ended before the message could be taken."""


class Conversation:
    """Hands the client's messages in, and knows which are still owed an answer."""

    def __init__(self, incoming: Incoming, most_open: float = MOST_OPEN) -> None:
        self._incoming = incoming
        self._most_open = most_open
        self._open: Counter[types.RequestId] = Counter()
        self._listening: set[types.RequestId] = set()
        self._over = False
        self._moved = asyncio.Event()

    async def put(self, message: SessionMessage) -> None:
        """Hand a message of the client in, a request once there is room for it.

        Raises:
            ConversationOver: nobody takes it any more.
        """
        request = message.message
        if not isinstance(request, types.JSONRPCRequest):
            self._hear(request)
            await self._hand_in(message)
            return
        while self._open.total() >= self._most_open and not self._over:
            await self._movement()
        number = coerce_request_id(request.id)
        # Noted before it is handed in: the answer may be quicker than the way back here.
        self._open[number] += 1
        if request.method == LISTENING:
            self._listening.add(number)
        try:
            await self._hand_in(message)
        except BaseException:
            self._settle(number)
            raise

    def answered(self, message: types.JSONRPCMessage) -> None:
        """Take note of what was sent to the client."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    async def settled(self) -> None:
        """Until nothing is owed an answer. A subscription is answered only when it ends."""
        while self._open.keys() - self._listening:
            await self._movement()

    async def settled_after(self, ended: asyncio.Event) -> None:
        """Until nothing is owed an answer any more, once the process has begun to stop."""
        await ended.wait()
        await self.settled()

    def end(self) -> None:
        """Take nothing any more."""
        self._over = True
        self._moved.set()

    async def _hand_in(self, message: SessionMessage) -> None:
        if self._over:
            raise ConversationOver
        try:
            await self._incoming.send(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise ConversationOver from None

    async def _movement(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    def _hear(self, message: types.JSONRPCMessage) -> None:
        """What a client cancels is not answered."""
        if isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED:
            asked = (message.params or {}).get("requestId")
            # Whatever a client puts there; what cannot be an id was never owed anything.
            if isinstance(asked, str | int):
                self._settle(asked)

    def _settle(self, request_id: types.RequestId | None) -> None:
        if request_id is None:
            return
        number = coerce_request_id(request_id)
        self._open[number] -= 1
        if self._open[number] <= 0:
            del self._open[number]
            self._listening.discard(number)
        self._moved.set()
