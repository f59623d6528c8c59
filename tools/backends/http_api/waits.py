"""When to try again: what an API asks for, and how long to wait where it does not say. Pure."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

FIRST_WAIT: Final = 0.2
LONGEST_WAIT: Final = 5.0
# A time that an API asks for is met, never undercut by the clock's grain.
_GRAIN: Final = 0.01
_LONGEST_ASKED: Final = 86_400.0
_jitter = random.SystemRandom()


def retry_after(header: str, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date; None without one."""
    written = header.strip()
    if not written:
        return None
    try:
        seconds = float(written)
    except ValueError:
        try:
            moment = parsedate_to_datetime(written)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    # Also puts away what is not a number.
    return min(max(seconds, 0.0), _LONGEST_ASKED) if seconds == seconds else None  # noqa: PLR0124


def pause(attempt: int, asked: float | None, remaining: float) -> float | None:
    """How long to wait before the attempt after `attempt` (from 0); None if there is no time for it."""
    if asked is not None:
        seconds = asked + _GRAIN
    else:
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt)
        seconds = longest * _jitter.uniform(0.5, 1.0)
    return seconds if seconds < remaining else None
