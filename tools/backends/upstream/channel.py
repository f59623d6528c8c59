"""What a way to an MCP server is: JSON-RPC messages out, answers and notices back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Message = Mapping[str, Any]
# Takes what the server sends of its own accord: notices and requests. The second value is the id of
# the request on whose answer stream it came, or None where the transport does not tell.
Listener = Callable[[Message, int | None], None]


class ChannelFault(Exception):
    """The server cannot be reached, or the connection broke. The message is for operators.

    `sent` says whether the request may have reached the server: only one that cannot have is safe
    to repeat whatever it does.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class SessionExpired(ChannelFault):
    """The server no longer knows the session; it did not do what was asked."""

    def __init__(self, message: str = "the session has expired") -> None:
        super().__init__(message, sent=False)


class Refused(ChannelFault):
    """The server answered the request with something other than MCP: a status, a page.

    `status` is that of HTTP. Below 500 the request was understood and declined, so trying again
    does not help.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message, sent=True)
        self.status = status


class Garbage(ChannelFault):
    """The server sent what is not JSON-RPC."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=True)


class TooLarge(Garbage):
    """What the server sent is larger than anything may be."""


class Channel(Protocol):
    """One open way to a server. Every method belongs to the event loop that opened it.

    `exchange` may be called many times at once. Cancelling it abandons the answer; over Streamable
    HTTP that also closes the exchange's stream. A channel that broke stays broken: `broken` says
    why, and all exchanges under way end with a `ChannelFault`.
    """

    # The child's process id over stdio, else None.
    process_handle: int | None

    @property
    def broken(self) -> str:
        """Why nothing more will come of this channel; empty while it works."""

    @property
    def error_lines(self) -> Sequence[str]:
        """What a child wrote to its error output last, without secrets; nothing elsewhere."""

    async def open(self) -> None:
        """Connect or start; raises ChannelFault."""

    async def exchange(self, message: Message, headers: Mapping[str, str]) -> Message:
        """Send a request and wait for its response: a message with `result` or `error`.

        `headers` are sent with it where the transport has headers, and ignored elsewhere.

        Raises:
            ChannelFault: there will be no response.
        """

    async def notify(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send a notice, or our response to a request of the server's; raises ChannelFault."""

    async def listen(self, headers: Mapping[str, str]) -> None:
        """Follow the stream of notices that belongs to no request, until it ends.

        Only Streamable HTTP has one of its own (GET, with the headers of the session); elsewhere
        notices come anyway and this returns at once.
        """

    async def close(self) -> None:
        """Hang up; ends the child and everything it started. Never raises, never takes long."""
