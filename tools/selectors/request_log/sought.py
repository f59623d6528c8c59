"""Which calls somebody looks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Sought:
    """All of it holds for the calls; what is empty does not matter."""

    tool: str = ""
    caller: str = ""
    statuses: tuple[str, ...] = ()
    code: str = ""
    state: str = ""
    transport: str = ""
    source: str = ""
    # Answered from the cache, not from it, or of a tool without one.
    cache: str = ""
    since: datetime | None = None
    until: datetime | None = None
    least_ms: float | None = None
    most_ms: float | None = None
    # In the question, the arguments or the error.
    text: str = ""
    correlation: str = ""
    thread: str = ""
    # A request id or a call id.
    identifier: UUID | None = None
    running: bool | None = None
    counted_tokens: bool | None = None
    shortened: bool | None = None
    # Any of these names, when it is not known whether a tool or a caller is meant.
    tools: tuple[str, ...] = ()
    callers: tuple[str, ...] = ()
    # Something was asked for that no call can have.
    nothing: bool = False
