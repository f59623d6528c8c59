"""Pages that may take long: at most half of the admin's threads make them, so that the others are always free.

What waits for workers, for other hosts or for a slow reader takes a place first. While there is none it is
refused at once: whoever looks at the dashboard in an incident is not kept waiting by searches and exports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

# In each web process, which has twice as many threads for the admin.
MOST_AT_ONCE: Final = 4
RETRY_SECONDS: Final = 10
TOO_MANY: Final = "Too many long-running pages are open. Try again in a moment."

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


class Place:
    """One of the places, held until it is given back; at the latest when nobody knows it any more."""

    def __init__(self) -> None:
        self._held = True

    def give_back(self) -> None:
        if self._held:
            self._held = False
            _places.release()

    def __del__(self) -> None:
        self.give_back()


def take_place() -> Place | None:
    """A place; None while all are taken."""
    return Place() if _places.acquire(blocking=False) else None


def in_a_place(request: HttpRequest, page: Callable[[], HttpResponse]) -> HttpResponse:
    """What `page` answers, made in a place; the refusal if there is none."""
    place = take_place()
    if place is None:
        return too_many(request)
    try:
        return page()
    finally:
        place.give_back()


def too_many(
    request: HttpRequest, told: str = TOO_MANY, seconds: int = RETRY_SECONDS
) -> HttpResponse:
    """`told` with status 503: to people as a page, to scripts as they ask for it."""
    accepted = request.headers.get("Accept", "")
    answer: HttpResponse
    if "text/html" in accepted:
        context = {**admin.site.each_context(request), "title": "Busy", "told": told}
        answer = render(request, "tools/admin/too_many.html", context, status=503)
    elif "application/json" in accepted:
        answer = JsonResponse({"error": told}, status=503)
    else:
        answer = HttpResponse(told, status=503, content_type="text/plain; charset=utf-8")
    answer["Retry-After"] = str(seconds)
    return answer
