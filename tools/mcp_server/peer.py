"""Who is at the other end of the message being handled.

Each door sets `current_peer` before the SDK sees a message. Tasks inherit it, and the SDK's
streams carry the sender's context along, so a handler always reads the peer of its own message.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from tools.contracts import Caller, Credentials, Transport


class Visit:
    """When a client connected, and whether it has seen the tools since."""

    __slots__ = ("_began", "_listed")

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._listed = False

    def first_listing(self) -> float | None:
        """Seconds from connecting to the first list of tools; None for every later one."""
        if self._listed:
            return None
        self._listed = True
        return time.monotonic() - self._began


@dataclass(frozen=True, slots=True)
class Peer:
    """What a client presented, and the door it uses.

    `caller` is who that was when it came in. Only who lives no longer than one message may go by it:
    keys are switched off while connections stay open.
    """

    credentials: Credentials
    transport: Transport
    caller: Caller | None = None
    visit: Visit = field(default_factory=Visit, compare=False, repr=False)

    def with_secret_of(self, other: Peer) -> Peer:
        """This peer, at the address it uses, with what `other` presented."""
        presented = replace(other.credentials, toolset=self.credentials.toolset)
        return replace(self, credentials=presented, caller=None)


current_peer: ContextVar[Peer] = ContextVar("current_peer")
