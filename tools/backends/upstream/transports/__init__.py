"""The ways to upstream servers. Each is loaded when it is first used."""

from __future__ import annotations

from typing import assert_never

from tools.backends.upstream.channel import Channel, Listener
from tools.upstreams import Upstream, UpstreamTransport

__all__ = ["open_channel"]


def open_channel(upstream: Upstream, listener: Listener) -> Channel:
    """A channel to `upstream`, not yet connected: its `open` does that."""
    match upstream.transport:
        case UpstreamTransport.STREAMABLE_HTTP:
            from tools.backends.upstream.transports.http import StreamableHttpChannel

            return StreamableHttpChannel(upstream, listener)
        case UpstreamTransport.STDIO:
            from tools.backends.upstream.transports.stdio import StdioChannel

            return StdioChannel(upstream, listener)
        case UpstreamTransport.SSE:
            from tools.backends.upstream.transports.sse import SseChannel

            return SseChannel(upstream, listener)
        case UpstreamTransport.WEBSOCKET:
            from tools.backends.upstream.transports.websocket import WebSocketChannel

            return WebSocketChannel(upstream, listener)
        case unknown:
            assert_never(unknown)
