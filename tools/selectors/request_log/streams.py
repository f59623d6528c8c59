"""All the calls somebody looks for, one after the other, with little of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tools.selectors.request_log.cursors import Cursor
from tools.selectors.request_log.pages import Page, page
from tools.selectors.request_log.ways import Way

AT_ONCE: Final = 500


def stream(way: Way, place: Cursor | None = None) -> Iterator[Page]:
    """Latest first, or those before a place, page by page; an empty one while nothing was found for a while.

    Each page is a query of its own: no cursor stays open, and nobody who writes has to wait.
    """
    while True:
        found = page(way, before=place, most=AT_ONCE)
        yield found
        if found.older is None:
            return
        place = found.older
