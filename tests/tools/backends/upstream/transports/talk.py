"""Opening channels and asking things of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tools.backends.upstream.channel import Channel, Message
from tools.backends.upstream.transports import open_channel
from tools.upstreams import Upstream, UpstreamTransport

HERE = ("127.0.0.0/8",)
ACCEPTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ask(number: int, method: str = "tools/list", **params: Any) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answer_to(number: int, **result: Any) -> dict[str, Any]:
    """The response that a server gives to it."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def initialize(number: int) -> dict[str, Any]:
    """The first request of the handshake."""
    return ask(
        number,
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )


class Heard:
    """What a channel's listener was told."""

    def __init__(self) -> None:
        self.messages: list[tuple[Message, int | None]] = []

    def __call__(self, message: Message, request_id: int | None) -> None:
        self.messages.append((message, request_id))

    @property
    def methods(self) -> list[str]:
        return [message["method"] for message, _ in self.messages]


def at(url: str, **changes: Any) -> Upstream:
    """A server of Streamable HTTP on this machine."""
    kind = changes.pop("transport", UpstreamTransport.STREAMABLE_HTTP)
    return Upstream("here", kind, url=url, **{"allowed_networks": HERE, **changes})


def started(command: str, **changes: Any) -> Upstream:
    """A server that is a child."""
    return Upstream("child", UpstreamTransport.STDIO, command=command, **changes)


@asynccontextmanager
async def opened(upstream: Upstream, listener: Heard | None = None) -> AsyncIterator[Channel]:
    """An open channel; closed afterwards."""
    channel = open_channel(upstream, listener or Heard())
    try:
        await channel.open()
        yield channel
    finally:
        await channel.close()


async def asked(
    channel: Channel, message: Message, headers: Mapping[str, str] | None = None
) -> Message:
    """The answer, which must come within ten seconds."""
    async with asyncio.timeout(10):
        return await channel.exchange(message, headers or {})
