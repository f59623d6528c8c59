"""The breakers of HTTP APIs, on their list and on the page of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from tools.admin.breakers import COLOURS, breakers_by_name
from tools.admin.texts import badge, moment
from tools.models import ApiService

MAY_RESET = "tools.change_upstreamserver"


def add_breakers(services: Iterable[Any]) -> None:
    """Give each service of a page what its list shows, asked for once."""
    known = breakers_by_name()
    for service in services:
        found = (known or {}).get(service.dependency)
        if found is not None:
            state = found.snapshot.state
            service.breaker_shown = badge(state.value, COLOURS[state])
        else:
            service.breaker_shown = "not known" if known is None else "not called yet"


def breaker_shown(service: Any) -> SafeString | str:
    shown: SafeString | str = service.breaker_shown
    return shown


def breaker_part(request: HttpRequest, service: ApiService) -> dict[str, Any]:
    """What the page of a service shows of its breaker."""
    known = breakers_by_name()
    found = (known or {}).get(service.dependency)
    return {
        "breakers_known": known is not None,
        "breaker": found and found.snapshot,
        "breaker_colour": COLOURS[found.snapshot.state] if found else "",
        "next_probe": found and found.next_probe and moment(found.next_probe),
        "may_reset": request.user.has_perm(MAY_RESET),
    }
