"""Streamable HTTP: every message is a POST, whose answer is one message or a stream of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from multidict import CIMultiDict

from tools.backends.http_api.addresses import Resolve, system_resolve
from tools.backends.http_api.network import Certificates, system_certificates
from tools.backends.upstream.channel import ChannelFault, Garbage, Listener, Message
from tools.backends.upstream.transports.connecting import HttpLine, open_http
from tools.backends.upstream.transports.declined import declined
from tools.backends.upstream.transports.http1 import written
from tools.backends.upstream.transports.network import FAULTS, told
from tools.backends.upstream.transports.streams import (
    AnswerStream,
    Reply,
    let_end,
    read_body,
    read_notices,
)
from tools.backends.upstream.transports.wire import encode, pick
from tools.upstreams import Upstream

SESSION: Final = "Mcp-Session-Id"
_GIVEN: Final = SESSION.lower()
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_HANG_UP_SECONDS: Final = 1.0
_MOST_WRITTEN: Final = 256
# The longest pause a server can ask for between two parts of a stream.
_LONGEST_PAUSE: Final = 5.0


class StreamableHttpChannel:
    """Requests to one server, over as many kept connections as there are exchanges at once."""

    process_handle: int | None = None
    error_lines: Sequence[str] = ()

    def __init__(
        self,
        upstream: Upstream,
        listener: Listener,
        *,
        resolve: Resolve = system_resolve,
        certificates: Certificates = system_certificates,
    ) -> None:
        # Given by the server with any answer, sent with everything after it.
        self.session_id = ""
        self._upstream = upstream
        self._listener = listener
        self._resolve = resolve
        self._certificates = certificates
        self._line: HttpLine | None = None
        self._headers: CIMultiDict[str] = CIMultiDict()
        # Headers as they travel, by what is added to those: for a tool they are always the same.
        self._written: dict[tuple[Any, ...], str] = {}
        self._closed = False
        self._lingering: set[asyncio.Task[None]] = set()

    @property
    def broken(self) -> str:
        """Only closing ends this channel: each exchange connects anew if it must."""
        return "it was closed" if self._closed else ""

    async def open(self) -> None:
        """Get ready to connect; the first exchange does it."""
        self._line = await open_http(self._upstream, self._resolve, self._certificates)
        self._headers = self._line.headers.copy()
        self._headers["Accept"] = f"{_JSON}, {_EVENTS}"
        self._headers["Accept-Encoding"] = "identity"
        self._headers["Content-Type"] = _JSON

    async def exchange(self, message: Message, headers: Mapping[str, str]) -> Message:
        """POST a request and wait for its response."""
        line = self._connected()
        try:
            answer = await self._post(line, message, headers)
            try:
                found = await self._read(line, answer, message["id"], headers)
            except BaseException:
                answer.close()
                raise
        except FAULTS as fault:
            raise told(fault, line.place) from None
        self._keep(answer)
        if found is None:
            raise Garbage(f"{line.place} answered another request than it was asked")
        return found

    async def notify(self, message: Message, headers: Mapping[str, str]) -> None:
        """POST a notice or a response; the server only accepts it."""
        line = self._connected()
        try:
            answer = await self._post(line, message, headers)
            try:
                if answer.status >= 300:
                    await declined(answer, line.place, None, in_session=bool(self.session_id))
            except BaseException:
                answer.close()
                raise
        except FAULTS as fault:
            raise told(fault, line.place) from None
        self._keep(answer)

    async def listen(self, headers: Mapping[str, str]) -> None:
        """GET the stream of notices and follow it to its end; servers without one say 405."""
        line = self._connected()
        try:
            with closing(await self._get(line, headers, "")) as answer:
                if answer.status == 405:
                    return
                if answer.status != 200:
                    await declined(answer, line.place, None, in_session=bool(self.session_id))
                if not answer.headers.get("content-type", "").startswith(_EVENTS):
                    raise Garbage(f"{line.place} has no stream where one should be")
                await read_notices(answer, lambda message: self._listener(message, None))
        except FAULTS as fault:
            raise told(fault, line.place) from None

    async def close(self) -> None:
        """End the session, if there is one, and hang up."""
        line, self._line, self._closed = self._line, None, True
        if line is None:
            return
        for task in self._lingering:
            task.cancel()
        try:
            if self.session_id:
                with contextlib.suppress(*FAULTS):
                    async with asyncio.timeout(_HANG_UP_SECONDS):
                        gone = written(self._with_session({}))
                        answer = await line.http.request("DELETE", gone)
                        answer.close()
        finally:
            if self._lingering:
                await asyncio.wait(self._lingering)
            line.http.close()

    def _connected(self) -> HttpLine:
        if self._line is None:
            raise ChannelFault("the channel is not open", sent=False)
        return self._line

    def _with_session(self, headers: Mapping[str, str]) -> CIMultiDict[str]:
        merged = self._headers.copy()
        if headers:
            merged.update(headers)
        if self.session_id:
            merged[SESSION] = self.session_id
        return merged

    def _posted_with(self, headers: Mapping[str, str]) -> str:
        key = (self.session_id, *headers.items())
        known = self._written.get(key)
        if known is None:
            if len(self._written) >= _MOST_WRITTEN:
                self._written.clear()
            known = self._written[key] = written(self._with_session(headers))
        return known

    async def _post(self, line: HttpLine, message: Message, headers: Mapping[str, str]) -> Reply:
        answer = await line.http.request("POST", self._posted_with(headers), encode(message))
        given = answer.headers.get(_GIVEN)
        if given:
            self.session_id = given
        return answer

    async def _get(self, line: HttpLine, headers: Mapping[str, str], last_id: str) -> Reply:
        merged = self._with_session(headers)
        merged["Accept"] = _EVENTS
        del merged["Content-Type"]
        if last_id:
            merged["Last-Event-ID"] = last_id
        return await line.http.request("GET", written(merged))

    async def _read(
        self,
        line: HttpLine,
        answer: Reply,
        request_id: Any,
        headers: Mapping[str, str],
    ) -> Message | None:
        """The response in an answer of any kind; None when there is only that of another request."""
        kind = answer.headers.get("content-type", "").lower()
        if answer.status < 300 and kind.startswith(_JSON):
            return pick(
                await read_body(answer),
                request_id,
                lambda message: self._listener(message, request_id),
            )
        if answer.status < 300 and kind.startswith(_EVENTS):
            return await self._streamed(line, answer, request_id, headers)
        return await declined(answer, line.place, request_id, in_session=bool(self.session_id))

    async def _streamed(
        self,
        line: HttpLine,
        answer: Reply,
        request_id: Any,
        headers: Mapping[str, str],
    ) -> Message:
        """The response on the stream, or on one that continues it after it broke."""
        stream = AnswerStream(request_id, lambda message: self._listener(message, request_id))
        found = await stream.read(answer)
        seen = ""
        # Once more for every event that came: a server may give its answer in many short streams.
        while found is None and self.session_id and stream.events.last_id != seen:
            seen = stream.events.last_id
            await asyncio.sleep(min((stream.events.retry or 0) / 1000, _LONGEST_PAUSE))
            stream.begin_again()
            with closing(await self._get(line, headers, seen)) as continued:
                if continued.status != 200:
                    break
                found = await stream.read(continued)
        if found is None:
            raise ChannelFault(f"{line.place} ended its stream before it answered", sent=True)
        return found

    def _keep(self, answer: Reply) -> None:
        """Let the server end this answer in its own time, so that its connection can be used again."""
        if answer.content.at_eof():
            return
        task = asyncio.get_running_loop().create_task(let_end(answer))
        self._lingering.add(task)

        def over(task: asyncio.Task[None]) -> None:
            self._lingering.discard(task)
            # One that was cancelled before it began has not done this.
            answer.close()

        task.add_done_callback(over)
