"""WebSocket: one message a frame, in both directions."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp
from typing_extensions import override

from tools.backends.http_api.addresses import Resolve, system_resolve
from tools.backends.http_api.network import Certificates, system_certificates
from tools.backends.upstream.channel import ChannelFault, Garbage, Listener, Refused, TooLarge
from tools.backends.upstream.transports.duplex import DuplexChannel
from tools.backends.upstream.transports.network import (
    FAULTS,
    Line,
    open_line,
    refuse_redirects,
    told,
)
from tools.backends.upstream.transports.wire import MOST_BYTES, TOO_LARGE, decode
from tools.upstreams import Upstream

SUBPROTOCOL: Final = "mcp"
# A server that lets two of our pings pass is gone.
_HEARTBEAT_SECONDS: Final = 20.0
_HANG_UP_SECONDS: Final = 1.0


class WebSocketChannel(DuplexChannel):
    """One socket to a server."""

    def __init__(
        self,
        upstream: Upstream,
        listener: Listener,
        *,
        resolve: Resolve = system_resolve,
        certificates: Certificates = system_certificates,
        heartbeat: float = _HEARTBEAT_SECONDS,
    ) -> None:
        super().__init__(upstream, listener)
        self._resolve = resolve
        self._certificates = certificates
        self._heartbeat = heartbeat
        self._line: Line | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None

    @override
    async def open(self) -> None:
        """Connect, and agree that MCP is spoken."""
        line = await open_line(
            self._upstream, ("ws", "wss"), self._resolve, self._certificates, (refuse_redirects,)
        )
        self._line = line
        try:
            async with asyncio.timeout(self._upstream.connect_timeout):
                self._socket = await self._connect(line)
        except BaseException as fault:
            await self._hang_up()
            if isinstance(fault, TimeoutError):
                reason = "cannot be reached: no connection in time"
                raise ChannelFault(f"{line.place} {reason}", sent=False) from None
            if isinstance(fault, FAULTS):
                raise told(fault, line.place) from None
            raise
        self._broken = ""
        self._reading = asyncio.get_running_loop().create_task(self._read(self._socket))

    @override
    async def close(self) -> None:
        """Say goodbye and hang up."""
        self._lost("it was closed")
        await self._hang_up()

    async def _connect(self, line: Line) -> aiohttp.ClientWebSocketResponse:
        try:
            return await line.session.ws_connect(
                line.url,
                protocols=(SUBPROTOCOL,),
                headers=line.headers,
                heartbeat=self._heartbeat,
                max_msg_size=MOST_BYTES,
                timeout=aiohttp.ClientWSTimeout(ws_close=_HANG_UP_SECONDS),
            )
        except aiohttp.WSServerHandshakeError as fault:
            raise Refused(
                f"{line.place} answered with status {fault.status} instead of a socket",
                status=fault.status,
            ) from None

    async def _hang_up(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))
        if self._line is not None:
            line, self._line = self._line, None
            try:
                if self._socket is not None:
                    await self._socket.close()
            finally:
                await line.session.close()

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        fault: object = None
        try:
            async for frame in socket:
                if frame.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    for message in decode(frame.data):
                        self._arrived(message)
                elif frame.type is aiohttp.WSMsgType.ERROR:
                    fault = frame.data
                    break
            self._ended(socket, fault)
        except Garbage as garbage:
            self._lost(str(garbage), Garbage)

    def _ended(self, socket: aiohttp.ClientWebSocketResponse, fault: object) -> None:
        if isinstance(fault, aiohttp.WebSocketError):
            if fault.code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG:
                self._lost(TOO_LARGE, TooLarge)
            else:
                self._lost("it broke the rules of WebSocket", Garbage)
        else:
            self._lost(f"it closed the socket ({socket.close_code})")

    @override
    async def _write(self, raw: bytes) -> None:
        if self._socket is None or self._socket.closed:
            raise ChannelFault(self._broken or "it is not open", sent=False)
        try:
            await self._socket.send_str(raw.decode())
        except FAULTS:
            raise ChannelFault("it broke the connection", sent=True) from None
