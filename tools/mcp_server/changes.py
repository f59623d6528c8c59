"""Tells connected clients that a list changed, each only when its own view did.

Every process watches the catalogue's number in Redis, so a change made anywhere reaches the
clients of all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from tools.contracts import Caller
from tools.errors import ControlPlaneError
from tools.execution.identity import identify
from tools.execution.lookup import Directory
from tools.mcp_server.peer import Peer, current_peer

Listener = Callable[[ServerEvent], None]
Grants = frozenset[str] | None

METHODS: Final[dict[type, str]] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
    ResourceUpdated: "notifications/resources/updated",
}


@dataclass(frozen=True, slots=True)
class _Subscriber:
    listener: Listener
    peer: Peer


class Changes:
    """The SDK's subscription bus over changes of the catalogue."""

    def __init__(self) -> None:
        self._subscribers: dict[object, _Subscriber] = {}

    def __len__(self) -> int:
        return len(self._subscribers)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` when something changes for the peer of the current message."""
        token = object()
        self._subscribers[token] = _Subscriber(listener, current_peer.get())

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Tell everybody."""
        for subscriber in list(self._subscribers.values()):
            subscriber.listener(event)

    def catalogue_changed(self, before: Directory, after: Directory) -> None:
        """Tell each subscriber what became different for it."""
        changed = Differences(before, after)
        for subscriber in list(self._subscribers.values()):
            for event in changed.seen_by(subscriber.peer):
                subscriber.listener(event)


class Differences:
    """What became different between two versions, compared once for all who see the same."""

    def __init__(self, before: Directory, after: Directory) -> None:
        self._before = before
        self._after = after
        self._known: dict[tuple[Grants, Grants], list[ServerEvent]] = {}

    def seen_by(self, peer: Peer) -> list[ServerEvent]:
        """What `peer` sees otherwise than before. One that is not known any more is told nothing."""
        try:
            now = identify(peer.credentials, self._after.catalogue)
        except ControlPlaneError:
            return []
        try:
            then = identify(peer.credentials, self._before.catalogue)
        except ControlPlaneError:
            return [ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()]
        key = (then.toolsets, now.toolsets)
        if key not in self._known:
            self._known[key] = _between(self._before, then, self._after, now)
        return self._known[key]


def _between(before: Directory, then: Caller, after: Directory, now: Caller) -> list[ServerEvent]:
    events: list[ServerEvent] = []
    if before.listed(then) != after.listed(now):
        events.append(ToolsListChanged())
    if before.visible_prompts(then) != after.visible_prompts(now):
        events.append(PromptsListChanged())
    old = {item.uri: item for item in before.visible_resources(then)}
    new = {item.uri: item for item in after.visible_resources(now)}
    if old != new or before.visible_templates(then) != after.visible_templates(now):
        events.append(ResourcesListChanged())
    events += [ResourceUpdated(uri=uri) for uri in new if uri in old and old[uri] != new[uri]]
    return events


class Outbox:
    """Notices waiting for one client. The same notice waits once, however often it arises."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], None] = {}
        self._arrived = asyncio.Event()
        self._closed = False

    def put(self, event: ServerEvent) -> None:
        uri = event.uri if isinstance(event, ResourceUpdated) else ""
        self._waiting[METHODS[type(event)], uri] = None
        self._arrived.set()

    def close(self) -> None:
        self._closed = True
        self._arrived.set()

    async def notices(self) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
        """Method and params of each notice, as they arise, until closed."""
        while not self._closed:
            await self._arrived.wait()
            self._arrived.clear()
            waiting, self._waiting = self._waiting, {}
            for method, uri in waiting:
                yield method, {"uri": uri} if uri else None


async def follow(ctx: ServerRequestContext[Any, Any], changes: Changes) -> None:
    """Send list-changed notices over a handshake-era connection for as long as it lives."""
    # The SDK offers the connection's life only through this attribute of the session.
    connection = ctx.session._connection
    if not connection.has_standalone_channel or "outbox" in connection.state:
        return
    outbox = Outbox()
    connection.state["outbox"] = outbox
    wanted: set[str] = connection.state.setdefault("subscribed_uris", set())

    def deliver(event: ServerEvent) -> None:
        if not isinstance(event, ResourceUpdated) or event.uri in wanted:
            outbox.put(event)

    unsubscribe = changes.subscribe(deliver)

    async def send() -> None:
        async for method, params in outbox.notices():
            await connection.notify(method, params)

    sending = asyncio.create_task(send())

    def stop() -> None:
        unsubscribe()
        sending.cancel()

    connection.exit_stack.callback(stop)
