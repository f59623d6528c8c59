"""What the front page of the admin is given."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from health.admin.dashboard.calls import MAY_SEE_CALLS, calls
from health.admin.dashboard.incidents import INCIDENTS_PART, MAY_SEE_INCIDENTS, incidents
from health.admin.dashboard.live import LIVE_PART, live
from health.admin.dashboard.status import MAY_SEE_STATUS, STATUS_PART, latest_status


def context(request: HttpRequest, given: dict[str, Any]) -> dict[str, Any]:
    """The index of the admin, with what the person may look at."""
    given["title"] = "Dashboard"
    if request.user.has_perm(MAY_SEE_STATUS):
        given.update(status=latest_status(), status_part=reverse(STATUS_PART))
    if request.user.has_perm(MAY_SEE_INCIDENTS):
        given.update(incidents=incidents(), incidents_part=reverse(INCIDENTS_PART))
    if request.user.has_perm(MAY_SEE_CALLS):
        given.update(live=live(request), live_part=reverse(LIVE_PART), **calls(request))
    return given
