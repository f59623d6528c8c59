"""All the calls somebody looks for, one after the other, with little of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tools.selectors.request_log.cursors import Cursor
from tools.selectors.request_log.pages import page
from tools.selectors.request_log.ways import Way

AT_ONCE: Final = 500


def stream(way: Way) -> Iterator[list[Any]]:
    """Latest first, in portions; an empty one while nothing was found for a while.

    Each portion is a query of its own: no cursor stays open, and nobody who writes has to wait.
    """
    place: Cursor | None = None
    while True:
        found = page(way, before=place, most=AT_ONCE)
        yield list(found.rows)
        if found.older is None:
            return
        place = found.older
