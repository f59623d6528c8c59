"""Connections to models' APIs: kept between requests, and cut from outside.

A request runs in a thread of its own and puts what comes into a queue. So whoever waits for it can
stop at any moment, whatever the API does: name look-ups, connecting and silent APIs included. httpx2
has neither a limit for a whole request nor a way to end one from outside; closing a socket does not
wake a thread that reads from it, but shutting it down does.

A line is one connection, which is why it knows the socket of the request under way. Idle lines are
kept per address. A child of this process starts with none, as two must not share a connection.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from queue import SimpleQueue
from ssl import SSLContext
from typing import Any, Final

import httpx2
from typing_extensions import override

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT: Final = 5.0
KEPT_SECONDS: Final = 30.0
LARGEST_ANSWER: Final = 64 << 20


class Trouble(Enum):
    """How a request can fail on its way."""

    UNREACHABLE = "no connection"
    SLOW_TO_CONNECT = "no connection in time"
    SILENT = "no answer in time"
    BROKEN = "the connection broke"


class TooLarge(Exception):
    """The answer is larger than any that is expected."""


class LineCut(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an answer."""

    status: int
    content_type: str


@dataclass(frozen=True, slots=True)
class Request:
    """A POST: `headers` hold the key and are not shown."""

    url: str
    body: bytes
    headers: Mapping[str, str]

    @override
    def __repr__(self) -> str:
        return f"Request({len(self.body)} bytes)"


END: Final = None
# A head, pieces of the body, and END or what went wrong.
Inbox = SimpleQueue[Head | bytes | Trouble | None]


class Line:
    """One connection, opened when it is first used."""

    def __init__(self) -> None:
        self._client = httpx2.Client(
            verify=_certificates(),
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=1, keepalive_expiry=KEPT_SECONDS),
        )
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._cut = False
        self._busy = False
        # Of the request under way: whether it opened a connection, and whether its answer began.
        self._opened = False
        self._answered = False

    def send(self, request: Request, timeout: float, inbox: Inbox) -> None:
        """Make the request in a thread; all of the answer goes to `inbox`."""
        self._busy, self._opened, self._answered = True, False, False
        threading.Thread(
            target=self._run, args=(request, timeout, inbox), name="model-api", daemon=True
        ).start()

    def cut(self) -> None:
        """End the request under way; the API sees a closed connection."""
        with self._guard:
            self._cut = True
            self._hang_up()
            if not self._busy:
                self.close()

    def close(self) -> None:
        self._client.close()

    def _run(self, request: Request, timeout: float, inbox: Inbox) -> None:
        try:
            self._exchange(request, timeout, inbox)
        except Exception as fault:  # noqa: BLE001 - whoever waits for the answer handles it
            if not self._cut:
                # Texts of these can hold what was sent, the key included; their names cannot.
                logger.warning("A request to a model's API failed: %s", type(fault).__name__)
            self._done()
            inbox.put(_trouble(fault))
        else:
            self._done()
            inbox.put(END)

    def _done(self) -> None:
        with self._guard:
            self._busy = False
            if self._cut:
                self.close()

    def _exchange(self, request: Request, timeout: float, inbox: Inbox) -> None:
        """The request, a second time if the API cannot have seen the first.

        That is so when no connection came about, and, as far as one can tell, when a kept one turned
        out to be closed.
        """
        try:
            self._post(request, timeout, inbox)
        except httpx2.ConnectError:
            self._post(request, timeout, inbox)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            if self._opened or self._answered or self._cut:
                raise
            self._post(request, timeout, inbox)

    def _post(self, request: Request, timeout: float, inbox: Inbox) -> None:
        size = 0
        with self._client.stream(
            "POST",
            request.url,
            content=request.body,
            headers=dict(request.headers),
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
            extensions={"trace": self._watch},
        ) as answer:
            self._answered = True
            inbox.put(Head(answer.status_code, answer.headers.get("content-type", "")))
            for piece in answer.iter_raw():
                size += len(piece)
                if size > LARGEST_ANSWER:
                    raise TooLarge
                inbox.put(piece)

    def _watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by httpx2 on its way: remembers the socket, which TLS replaces by another."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._guard:
                self._opened = True
                self._socket = info["return_value"].get_extra_info("socket")
                if self._cut:
                    self._hang_up()
                    raise LineCut

    def _hang_up(self) -> None:
        if self._socket is not None:
            try:
                # Past what an SSL socket makes of it: the reading thread still needs its state.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                # It is closed already.
                return


def _trouble(fault: Exception) -> Trouble:
    if isinstance(fault, httpx2.ConnectTimeout):
        return Trouble.SLOW_TO_CONNECT
    if isinstance(fault, httpx2.ConnectError):
        return Trouble.UNREACHABLE
    if isinstance(fault, httpx2.TimeoutException):
        return Trouble.SILENT
    return Trouble.BROKEN


class _Idle:
    """The lines that nobody uses, by address."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lines: dict[str, list[Line]] = defaultdict(list)

    def take(self, url: str) -> Line:
        with self._guard:
            if self._lines[url]:
                return self._lines[url].pop()
        return Line()

    def give(self, url: str, line: Line) -> None:
        with self._guard:
            self._lines[url].append(line)

    def close(self) -> None:
        with self._guard:
            lines = [line for kept in self._lines.values() for line in kept]
            self._lines.clear()
        for line in lines:
            line.close()


@cache
def _certificates() -> SSLContext:
    # Read once: it takes longer than most requests.
    return httpx2.create_ssl_context()


idle = _Idle()


def _begin_anew() -> None:
    global idle  # noqa: PLW0603 - the parent's connections are not the child's
    idle = _Idle()


os.register_at_fork(after_in_child=_begin_anew)
