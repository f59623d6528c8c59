"""How the last test query of each pipeline ended, as whoever makes them tells. Set while apps load."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """What was found about one pipeline; `error` says why it is not well, `stale` that this is old news."""

    status: str
    measured_at: datetime
    error: str | None = None
    milliseconds: int | None = None
    last_success: datetime | None = None
    stale: bool = False


@dataclass(slots=True)
class Canaries:
    """By the names of tools; nothing where nobody makes any."""

    read: Callable[[], Mapping[str, CanaryResult]] | None = None

    def latest(self) -> Mapping[str, CanaryResult]:
        return self.read() if self.read is not None else {}


canaries = Canaries()
