"""HTTP with SSE as before Streamable HTTP: everything comes on one stream, everything goes by POST."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

import aiohttp
from multidict import CIMultiDict
from typing_extensions import override
from yarl import URL

from tools.backends.http_api.addresses import Resolve, system_resolve
from tools.backends.http_api.network import Certificates, system_certificates
from tools.backends.upstream.channel import ChannelFault, Garbage, Listener, TooLarge
from tools.backends.upstream.transports.declined import declined
from tools.backends.upstream.transports.duplex import DuplexChannel
from tools.backends.upstream.transports.events import Event, EventReader, TooLong
from tools.backends.upstream.transports.network import FAULTS, Line, open_line, told
from tools.backends.upstream.transports.streams import let_end
from tools.backends.upstream.transports.wire import TOO_LARGE, decode
from tools.upstreams import Upstream

_EVENTS: Final = "text/event-stream"


class SseChannel(DuplexChannel):
    """The stream of one server, and the address it wants to be written to."""

    def __init__(
        self,
        upstream: Upstream,
        listener: Listener,
        *,
        resolve: Resolve = system_resolve,
        certificates: Certificates = system_certificates,
    ) -> None:
        super().__init__(upstream, listener)
        self._resolve = resolve
        self._certificates = certificates
        self._line: Line | None = None
        self._reading: asyncio.Task[None] | None = None
        self._endpoint: asyncio.Future[URL] | None = None

    @override
    async def open(self) -> None:
        """Connect, and wait to be told where to write to."""
        line = await open_line(self._upstream, ("http", "https"), self._resolve, self._certificates)
        self._line = line
        try:
            async with asyncio.timeout(self._upstream.connect_timeout):
                await self._connect(line)
        except TimeoutError:
            await self._give_up()
            reason = "it did not say in time where to write to"
            raise ChannelFault(f"{line.place}: {reason}", sent=False) from None
        except FAULTS as fault:
            await self._give_up()
            raise told(fault, line.place) from None
        except BaseException:
            await self._give_up()
            raise

    @override
    async def close(self) -> None:
        """Hang up; the server ends the session with its stream."""
        self._lost("it was closed")
        await self._give_up()

    async def _connect(self, line: Line) -> None:
        headers = line.headers.copy()
        headers["Accept"] = _EVENTS
        headers["Accept-Encoding"] = "identity"
        answer = await line.session.get(line.url, headers=headers, allow_redirects=False)
        try:
            if answer.status != 200:
                await declined(answer, line.place, None, in_session=False)
            if not answer.headers.get("Content-Type", "").lower().startswith(_EVENTS):
                raise Garbage(f"{line.place} has no stream where one should be")
        except BaseException:
            answer.close()
            raise
        loop = asyncio.get_running_loop()
        self._broken = ""
        self._endpoint = loop.create_future()
        self._reading = loop.create_task(self._read(line, answer))
        await asyncio.wait((self._endpoint, self._reading), return_when=asyncio.FIRST_COMPLETED)
        if not self._endpoint.done():
            raise ChannelFault(f"{line.place}: {self._broken}", sent=False)

    async def _give_up(self) -> None:
        self._broken = self._broken or "it is not open"
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))
        if self._line is not None:
            line, self._line = self._line, None
            await line.session.close()

    async def _read(self, line: Line, answer: aiohttp.ClientResponse) -> None:
        events = EventReader()
        try:
            while chunk := await answer.content.readany():
                for event in events.feed(chunk):
                    self._take(line, event)
            self._lost("it ended its stream")
        except TooLong:
            self._lost(TOO_LARGE, TooLarge)
        except Garbage as fault:
            self._lost(str(fault), Garbage)
        except FAULTS:
            self._lost("it broke its stream")
        finally:
            answer.close()

    def _take(self, line: Line, event: Event) -> None:
        if event.kind == "endpoint":
            self._told_endpoint(line, event.data)
        elif event.kind in ("", "message"):
            for message in decode(event.data):
                self._arrived(message)

    def _told_endpoint(self, line: Line, written: bytes) -> None:
        try:
            endpoint = line.url.join(URL(written.decode()))
            same = endpoint.origin() == line.url.origin()
        except ValueError:
            same = False
        if not same:
            # What we write may hold secrets, which only the server we were told of gets.
            raise Garbage("it wants to be written to at another host")
        if self._endpoint is not None and not self._endpoint.done():
            self._endpoint.set_result(endpoint)

    @override
    async def _write(self, raw: bytes) -> None:
        line, endpoint = self._line, self._endpoint
        if line is None or endpoint is None:
            raise ChannelFault(self._broken or "it is not open", sent=False)
        headers: CIMultiDict[str] = line.headers.copy()
        headers["Content-Type"] = "application/json"
        try:
            answer = await line.session.post(
                endpoint.result(), data=raw, headers=headers, allow_redirects=False
            )
            try:
                if answer.status >= 300:
                    await declined(answer, line.place, None, in_session=True)
            except BaseException:
                answer.close()
                raise
        except FAULTS as fault:
            raise told(fault, line.place) from None
        with contextlib.suppress(*FAULTS):
            await let_end(answer)
