"""Notices when an MCP server will never answer a request.

The SDK's client waits on when the stream ends in which the answer would have come, when something else came
in place of the answer, or when the request was merely accepted. So what comes back is watched on its way to it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

import httpx
from typing_extensions import override

from agent.pulse import Known, Pulse

EVENTS: Final = "text/event-stream"
JSON: Final = "application/json"
LAST_EVENT_ID: Final = "last-event-id"
# What was read of a stream before its end is on its way through the SDK then, and tells more.
SETTLING_SECONDS: Final = 0.1
# A notice in place of an answer is short; answers may be long, and are read once.
LONGEST_NOTICE: Final = 65_536
# Of a line that is not whole yet: enough to tell an id.
_START: Final = 64
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
# Of the body as it came, not as it is passed on.
_AS_SENT: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_OF_THE_CALL: Final = frozenset({"content-length", "transfer-encoding"})
Gone = Callable[[Exception], None]


class WatchedClient(httpx.AsyncClient):
    """The client of one session. `gone` is told what happened to a request that is left without an answer.

    A stream whose events have ids is one that its server lets be taken up again: the SDK asks for the
    rest, and as long as the server agrees, the answer may still come.
    """

    def __init__(self, gone: Gone, known: Known, **options: Any) -> None:
        super().__init__(**options)
        self._gone = gone
        self._known = known
        self._resuming = False
        self._pulse: Pulse | None = None
        self._pings = 0

    @override
    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        # A request that is sent on elsewhere comes as a stream of what it holds.
        await request.aread()
        resumes = self._resuming and request.method == "GET" and LAST_EVENT_ID in request.headers
        asked = _asked(request)
        if asked.get("method") == "tools/call":
            # It may be sent on elsewhere.
            self._call_is_over()
            self._pulse = self._pulse_of(request, asked)
        try:
            response = await super().send(request, **options)
        except httpx.TransportError as fault:
            if resumes:
                self._gone(fault)
            raise
        if resumes:
            return self._watch_the_rest(response)
        return self._watch_the_answer(response) if asked else response

    @override
    async def aclose(self) -> None:
        self._call_is_over()
        await super().aclose()

    @override
    async def __aexit__(self, *raised: Any) -> None:
        self._call_is_over()
        await super().__aexit__(*raised)

    def _pulse_of(self, request: httpx.Request, asked: Mapping[str, Any]) -> Pulse:
        async def ping() -> bool:
            return await self._is_alive(request)

        tool = str(asked["params"]["name"])
        return Pulse(tool, self._known, ping, self._gone)

    async def _is_alive(self, call: httpx.Request) -> bool:
        """Ask beside a call: whatever is answered, is an answer. Not to be let in is none."""
        self._pings += 1
        sent = {"jsonrpc": "2.0", "id": f"alive-{self._pings}", "method": "ping"}
        headers = [pair for pair in call.headers.items() if pair[0] not in _OF_THE_CALL]
        request = httpx.Request(
            "POST", call.url, headers=headers, json=sent, extensions=call.extensions
        )
        try:
            response = await super().send(request, stream=True, follow_redirects=False)
            await response.aclose()
        except httpx.TransportError:
            return False
        return True

    def _call_is_over(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()

    def _watch_the_answer(self, response: httpx.Response) -> httpx.Response:
        def ended(fault: Exception | None, *, resumable: bool) -> None:
            if resumable:
                self._resuming = True
            else:
                self._soon_gone(fault or ConnectionError("it closed the stream without an answer"))

        def read(body: bytes) -> None:
            if _is_no_answer(body):
                self._gone(ConnectionError("it sent something else in place of an answer"))

        if response.status_code == httpx.codes.ACCEPTED:
            self._gone(ConnectionError("it accepted the request and will not answer it"))
        elif response.is_success and _is(response, EVENTS):
            return self._passed_on(response, _Events(response, ended))
        elif response.is_success and _is(response, JSON):
            return self._passed_on(response, _Body(response, read))
        return response

    def _watch_the_rest(self, response: httpx.Response) -> httpx.Response:
        def ended(fault: Exception | None, *, resumable: bool) -> None:
            # Without a fault it is asked for what follows.
            if fault is not None:
                self._soon_gone(fault)

        if response.is_success and _is(response, EVENTS):
            return self._passed_on(response, _Events(response, ended))
        status = response.status_code
        self._gone(ConnectionError(f"it answered {status} when asked for the rest of a stream"))
        return response

    def _passed_on(self, response: httpx.Response, stream: _Watched) -> httpx.Response:
        """The response with what is in it, unpacked: what is packed wrongly shows only then."""
        if self._pulse is not None:
            self._pulse.heard()
            stream.heard, stream.closed = self._pulse.heard, self._pulse.stop
        kept = [pair for pair in response.headers.multi_items() if pair[0] not in _AS_SENT]
        headers = httpx.Headers(kept)
        if isinstance(stream, _Events):
            # Whatever it is said to be written in: events are UTF-8.
            headers["content-type"] = EVENTS
        return httpx.Response(
            response.status_code,
            headers=headers,
            stream=stream,
            request=response.request,
            extensions=response.extensions,
        )

    def _soon_gone(self, fault: Exception) -> None:
        asyncio.get_running_loop().call_later(SETTLING_SECONDS, self._gone, fault)


class _Watched(httpx.AsyncByteStream):
    """What a response holds, on its way to whoever reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.heard: Callable[[], None] = _nothing
        self.closed: Callable[[], None] = _nothing

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_bytes():
                self.heard()
                self._read(piece)
                yield piece
        except Exception as fault:
            self._end(fault)
            raise
        self._end(None)

    @override
    async def aclose(self) -> None:
        self.closed()
        await self._response.aclose()

    def _read(self, piece: bytes) -> None:
        """Note what is in it."""
        raise NotImplementedError

    def _end(self, fault: Exception | None) -> None:
        """There is no more."""
        raise NotImplementedError


class _Events(_Watched):
    """A stream of events. Whoever has read an answer closes it, so to have reached its end is to have none."""

    def __init__(self, response: httpx.Response, ended: Any) -> None:
        super().__init__(response)
        self._ended = ended
        self._line = b""
        self._named = self._resumable = False

    @override
    def _read(self, piece: bytes) -> None:
        """Note whether an event with an id is complete."""
        *lines, rest = _LINE_END.split(self._line + piece)
        self._line = rest[:_START]
        for line in lines:
            name, _, value = line.partition(b":")
            self._named = self._named or (name == b"id" and bool(value.strip()))
            self._resumable = self._resumable or (self._named and not line)

    @override
    def _end(self, fault: Exception | None) -> None:
        self._ended(fault, resumable=self._resumable)


class _Body(_Watched):
    """A single text in JSON. What cannot be read or unpacked is told by the SDK."""

    def __init__(self, response: httpx.Response, whole: Callable[[bytes], None]) -> None:
        super().__init__(response)
        self._whole = whole
        self._start = b""

    @override
    def _read(self, piece: bytes) -> None:
        if len(self._start) <= LONGEST_NOTICE:
            self._start += piece

    @override
    def _end(self, fault: Exception | None) -> None:
        if fault is None and len(self._start) <= LONGEST_NOTICE:
            self._whole(self._start)


def _nothing() -> None:
    """Nobody listens."""


def _is(response: httpx.Response, kind: str) -> bool:
    return str(response.headers.get("content-type", "")).lower().startswith(kind)


def _asked(request: httpx.Request) -> dict[str, Any]:
    """The request of JSON-RPC that it carries; empty when that is a notice or an answer."""
    if request.method != "POST":
        return {}
    sent = json.loads(request.content)
    asks = isinstance(sent, dict) and "id" in sent and "method" in sent
    return sent if asks else {}


def _is_no_answer(body: bytes) -> bool:
    """Whether it is a message of another kind: a notice, or a request of the server's own."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(sent, dict) and "method" in sent and not {"result", "error"} & set(sent)
