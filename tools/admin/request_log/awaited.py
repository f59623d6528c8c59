"""The row of a call that has just been made: it is written a moment after the answer."""

from __future__ import annotations

import time
from typing import Any, Final
from uuid import UUID

from tools.admin.slow_pages import take_place
from tools.models import ToolRequest

# Rows are written together, every half second.
SECONDS: Final = 2.0
# Of an older call there is no row any more, or never was.
YOUNG: Final = 60.0
LOOK_EVERY: Final = 0.05


def await_row(call_id: Any) -> None:
    """Wait for the row, in a place among the slow pages: whoever follows the link of an answer is quicker.

    Not for what is no id of a young call, nor while all places are taken.
    """
    try:
        wanted = UUID(str(call_id))
    except ValueError:
        return
    if not _is_young(wanted) or (place := take_place()) is None:
        return
    try:
        limit = time.monotonic() + SECONDS
        while not ToolRequest.objects.filter(pk=wanted).exists() and time.monotonic() < limit:
            time.sleep(LOOK_EVERY)
    finally:
        place.give_back()


def _is_young(call_id: UUID) -> bool:
    """By the milliseconds that ids of calls begin with."""
    return abs(time.time() - (call_id.int >> 80) / 1000) < YOUNG
