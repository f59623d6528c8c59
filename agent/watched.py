"""Notices when an MCP server will never answer a request.

The SDK's client waits on when the stream ends in which the answer would have come, when something else came
in place of the answer, or when the request was merely accepted. So what comes back is watched on its way to it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx
from typing_extensions import override

from agent.pulse import Known, Pulse
from agent.streams import Body, Events, Rest, Watched

EVENTS: Final = "text/event-stream"
JSON: Final = "application/json"
LAST_EVENT_ID: Final = "last-event-id"
# What was read of a stream before its end is on its way through the SDK then, and tells more.
SETTLING_SECONDS: Final = 0.1
# What the SDK has to go on after a whole answer, and a server to begin with the rest of a stream that it ended:
# with the farewell less than 5 s.
GOING_ON_SECONDS: Final = 1.0
RESUMING_SECONDS: Final = 3.5
# Of the body as it came, not as it is passed on.
_AS_SENT: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_OF_THE_CALL: Final = frozenset({"content-length", "transfer-encoding"})
Gone = Callable[[Exception], None]


class WatchedClient(httpx.AsyncClient):
    """The client of one session. `gone` is told what happened to a request that is left without an answer.

    A stream whose events have ids is one that its server lets be taken up again: the SDK asks for the
    rest, and as long as the server agrees, the answer may still come. It has to begin with the rest in time.
    """

    def __init__(self, gone: Gone, known: Known, **options: Any) -> None:
        super().__init__(**options)
        # There is nothing to win with small messages, and what is packed wrongly may just not end.
        self.headers["accept-encoding"] = "identity"
        self._gone = gone
        self._known = known
        # What is going to be asked for, after the end of a stream.
        self._rest: Rest | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._pulse: Pulse | None = None
        self._pings = 0

    @override
    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        # A request that is sent on elsewhere comes as a stream of what it holds.
        await request.aread()
        rest = self._rest_asked_for(request)
        sent = _sent(request)
        asked = sent if "id" in sent else {}
        if sent:
            # It is only sent when what was asked before has been answered.
            self._stop_waiting()
        if asked.get("method") == "tools/call":
            # It may be sent on elsewhere.
            self._call_is_over()
            self._pulse = self._pulse_of(request, asked)
        try:
            response = await super().send(request, **options)
        except httpx.TransportError as fault:
            if rest is not None:
                self._gone(fault)
            raise
        if rest is not None:
            return self._watch_the_rest(response, rest)
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
        self._stop_waiting()
        self._rest = None
        self._stream_is_closed()

    def _stream_is_closed(self) -> None:
        """A stream that is going to be taken up again is still listened for."""
        if self._pulse is not None and self._rest is None:
            self._pulse.stop()

    def _rest_asked_for(self, request: httpx.Request) -> Rest | None:
        """What it asks for, if that is the rest of a stream that has ended."""
        named = request.headers.get(LAST_EVENT_ID) if request.method == "GET" else None
        return self._rest if self._rest and named == self._rest.last_id else None

    def _watch_the_answer(self, response: httpx.Response) -> httpx.Response:
        def ended(fault: Exception | None, rest: Rest | None) -> None:
            if rest is not None:
                self._wait_for(rest)
            else:
                self._soon_gone(fault or ConnectionError("it closed the stream without an answer"))

        def whole() -> None:
            other = ConnectionError("it sent something else in place of an answer")
            self._wait(GOING_ON_SECONDS, other)

        if response.status_code == httpx.codes.ACCEPTED:
            self._gone(ConnectionError("it accepted the request and will not answer it"))
        elif response.is_success and _is(response, EVENTS):
            return self._passed_on(response, Events(response, ended, self._gone))
        elif response.is_success and _is(response, JSON):
            return self._passed_on(response, Body(response, whole))
        return response

    def _watch_the_rest(self, response: httpx.Response, rest: Rest) -> httpx.Response:
        def ended(fault: Exception | None, more: Rest | None) -> None:
            # Without a fault it is asked for what follows.
            if fault is not None:
                self._soon_gone(fault)
            else:
                self._wait_for(more or rest)

        self._rest = None
        self._stop_waiting()
        if response.is_success and _is(response, EVENTS):
            return self._passed_on(response, Events(response, ended, self._gone, rest))
        status = response.status_code
        self._gone(ConnectionError(f"it answered {status} when asked for the rest of a stream"))
        return response

    def _wait_for(self, rest: Rest) -> None:
        """The SDK is going to ask for it, after the time that the server has named."""
        self._rest = rest
        if rest.retry < RESUMING_SECONDS * 1000:
            late = ConnectionError("it ended the stream and did not begin with its rest")
            self._wait(RESUMING_SECONDS, late)
        else:
            self._soon_gone(
                ConnectionError("it ended the stream and wants its rest asked for later")
            )

    def _wait(self, seconds: float, fault: Exception) -> None:
        """Be gone then, unless something comes in between."""
        self._stop_waiting()
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(seconds, self._soon_gone, fault)

    def _stop_waiting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()

    def _passed_on(self, response: httpx.Response, stream: Watched) -> httpx.Response:
        """The response with what is in it, unpacked: what is packed wrongly shows only then."""
        if self._pulse is not None:
            self._pulse.heard()
            stream.heard, stream.closed = self._pulse.heard, self._stream_is_closed
        kept = [pair for pair in response.headers.multi_items() if pair[0] not in _AS_SENT]
        headers = httpx.Headers(kept)
        if isinstance(stream, Events):
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
        """Be gone after what is on its way; also where reading it has kept the loop up until now."""
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(SETTLING_SECONDS, self._gone, fault)


def _is(response: httpx.Response, kind: str) -> bool:
    return str(response.headers.get("content-type", "")).lower().startswith(kind)


def _sent(request: httpx.Request) -> dict[str, Any]:
    """The request or notice of JSON-RPC that it carries; empty when that is an answer."""
    if request.method != "POST":
        return {}
    sent = json.loads(request.content)
    return sent if isinstance(sent, dict) and "method" in sent else {}
