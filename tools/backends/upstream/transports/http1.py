"""HTTP/1.1 exchanges over kept connections, at little cost.

Every call is one small POST with a small answer, and a general client spends five times as much on it
(`python -m bench.http_client` compares the two). This is the part of HTTP/1.1 that such exchanges need,
with the parser that serves our own doors too: no redirects, no cookies, no compression. Where and how to
connect is the business of who makes it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from typing_extensions import override
from yarl import URL

# Opens a connection to the server with such a protocol at its end; raises OSError.
Connect = Callable[[Callable[[], asyncio.Protocol]], Awaitable[asyncio.BaseProtocol]]

MOST_HEAD_BYTES: Final = 64 << 10
# An unread answer stops its connection from reading above this.
MOST_UNREAD: Final = 1 << 20
MOST_IDLE: Final = 100
# Who has been silent for longer may have gone without a word.
IDLE_SECONDS: Final = 15.0


class Broken(ConnectionError):
    """The connection broke after the request was sent."""


class BadHttp(Exception):
    """The server does not speak HTTP as it should."""


class Answer:
    """Status, headers (by lower-case name) and body of an answer, the body as it comes."""

    def __init__(self, link: _Link, url: URL) -> None:
        self.url = url
        self.status = 0
        self.headers: dict[str, str] = {}
        self._link = link
        self._chunks: deque[bytes] = deque()
        self._unread = 0
        self._ended = False
        self._fault: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None

    @property
    def content(self) -> Answer:
        """Where the body is read."""
        return self

    def at_eof(self) -> bool:
        """Whether all of it has come and was read."""
        return self._ended and not self._chunks

    @property
    def content_length(self) -> int | None:
        """How long the body will be, where the server says so."""
        written = self.headers.get("content-length", "")
        return int(written) if written.isdigit() else None

    async def read(self) -> bytes:
        """All that is left of the body."""
        found = await self.readany()
        while not self.at_eof():
            found += await self.readany()
        return found

    async def readany(self) -> bytes:
        """What has come of the body since; waits for more. Empty at its end.

        Raises:
            Broken, BadHttp: it broke off.
        """
        while not self._chunks and not self._ended:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        if self._chunks:
            found = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
            self._chunks.clear()
            self._unread = 0
            self._link.go_on()
            return found
        if self._fault is not None:
            raise self._fault
        return b""

    def close(self) -> None:
        """Read no more of it; a connection on which more is to come is of no use."""
        if not self._ended:
            self._link.drop()

    def release(self) -> None:
        """The same: one that has ended has given its connection back by itself."""
        self.close()

    def came(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._unread += len(chunk)
        if self._unread > MOST_UNREAD:
            self._link.hold_on()
        self._wake()

    def end(self, fault: Exception | None = None) -> None:
        if not self._ended:
            self._ended, self._fault = True, fault
            self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class _Link(asyncio.Protocol):
    """One connection, with at most one exchange on it at a time."""

    def __init__(self, links: set[_Link], idle: deque[_Link]) -> None:
        self.idle_since = 0.0
        self._links = links
        self._idle = idle
        self._transport: asyncio.Transport | None = None
        # One for all answers: making one costs as much as reading a small answer with it.
        self._parser: Any = HttpResponseParser(self)
        self._answer: Answer | None = None
        self._head: asyncio.Future[Answer] | None = None
        self._head_bytes = 0
        self._held = False

    @property
    def usable(self) -> bool:
        """Whether the other end is there, as far as can be known."""
        if time.monotonic() - self.idle_since > IDLE_SECONDS:
            self.drop()
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, url: URL) -> Answer:
        """Send a request; its answer, once the head of it is there."""
        self._answer = Answer(self, url)
        self._head_bytes = 0
        self._head = asyncio.get_running_loop().create_future()
        if self._transport is None:
            raise Broken("the connection broke")
        # The last answer may have been left unread.
        self.go_on()
        self._transport.write(request)
        try:
            return await self._head
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def hold_on(self) -> None:
        if not self._held and self._transport is not None:
            self._held = True
            self._transport.pause_reading()

    def go_on(self) -> None:
        if self._held and self._transport is not None:
            self._held = False
            self._transport.resume_reading()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._links.add(self)

    @override
    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            # Nothing was asked.
            self.drop()
            return
        try:
            if not self._answer.status:
                if self._head_bytes > MOST_HEAD_BYTES:
                    raise HttpParserError("the head is too long")
                self._head_bytes += len(data)
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._fail(BadHttp("it does not speak HTTP as it should"))
            self.drop()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._parser = None
        self._links.discard(self)
        if self in self._idle:
            self._idle.remove(self)
        answer = self._answer
        if answer is not None and answer.status and _until_the_end(answer):
            answer.end()
        self._fail(Broken("the connection broke"))

    # What the parser tells.

    def on_message_begin(self) -> None:
        if self._answer is None:
            # Nothing was asked; what follows must not be taken for the next answer.
            self.drop()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._answer is not None:
            key = name.decode("latin-1").lower()
            self._answer.headers[key] = value.decode("latin-1").strip()

    def on_headers_complete(self) -> None:
        answer, status = self._answer, self._parser.get_status_code()
        if answer is None or self._head is None:
            return
        if status < 200:
            # Only a word in between.
            answer.headers.clear()
            return
        answer.status = status
        if not self._head.done():
            self._head.set_result(answer)

    def on_body(self, chunk: bytes) -> None:
        if self._answer is not None:
            self._answer.came(chunk)

    def on_message_complete(self) -> None:
        answer = self._answer
        if answer is None or not answer.status:
            return
        self._answer = None
        answer.end()
        self.idle_since = time.monotonic()
        if self._parser.should_keep_alive() and self.usable and len(self._idle) < MOST_IDLE:
            self._idle.append(self)
        elif self._transport is not None:
            self._transport.close()

    def _fail(self, fault: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.end(fault)
        if self._head is not None and not self._head.done():
            self._head.set_exception(fault)
            # Whoever gave up before this came does not look any more.
            self._head.exception()


def written(headers: Mapping[str, str]) -> str:
    """Headers as they travel.

    Raises:
        ValueError: one of them cannot.
    """
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines.count("\n") == lines.count("\r") == len(headers) or "\0" in lines:
        raise ValueError("a header has more than one line")
    return lines


class Http1:
    """Exchanges with one server. Connections are made as needed and kept while the server keeps them."""

    def __init__(self, connect: Connect, url: URL) -> None:
        self._connect = connect
        self._url = url
        self._closed = False
        self._links: set[_Link] = set()
        self._idle: deque[_Link] = deque()
        self._start = f" {url.raw_path_qs} HTTP/1.1\r\nHost: {url.host_port_subcomponent}\r\n"

    async def request(self, method: str, headers: str = "", body: bytes = b"") -> Answer:
        """The answer, its body still to be read: to its end, or closed. `headers` are `written` ones.

        Raises:
            OSError: no connection could be made; nothing was sent.
            Broken, BadHttp: there was no answer.
        """
        head = f"{method}{self._start}{headers}Content-Length: {len(body)}\r\n\r\n".encode()
        link = await self._link()
        return await link.exchange(head + body, self._url)

    def close(self) -> None:
        """Hang up; what is under way ends with `Broken`."""
        self._closed = True
        self._idle.clear()
        for link in list(self._links):
            link.drop()

    async def _link(self) -> _Link:
        while self._idle:
            # The one used last is the least likely to be hung up on.
            link = self._idle.pop()
            if link.usable:
                return link
        made = cast(_Link, await self._connect(lambda: _Link(self._links, self._idle)))
        if self._closed:
            made.drop()
        return made


def _until_the_end(answer: Answer) -> bool:
    """Whether the end of the connection is the end of the body."""
    chunked = "chunked" in answer.headers.get("transfer-encoding", "").lower()
    return not chunked and "content-length" not in answer.headers
