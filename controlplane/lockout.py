"""What becomes of people who have given too many wrong passwords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def address_of(request: HttpRequest) -> str | None:
    """Where somebody logs in from: the other end of the connection."""
    return request.META.get("REMOTE_ADDR") or None


def refuse(
    request: HttpRequest,
    original: HttpResponse | None = None,
    credentials: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """The page that says how long to wait."""
    # Loaded by the first request that is refused, when there is a database.
    from controlplane.address_limit import is_address_locked

    of_address = is_address_locked(address_of(request))
    minutes = settings.AXES_COOLOFF_TIME.total_seconds() / 60
    context = {
        **admin.site.each_context(request),
        "of_address": of_address,
        "failures": settings.ADDRESS_FAILURE_LIMIT if of_address else settings.AXES_FAILURE_LIMIT,
        "minutes": f"{minutes:g}",
    }
    answer = render(request, "controlplane/locked_out.html", context, status=429)
    answer.headers["Retry-After"] = f"{60 * minutes:.0f}"
    return answer
