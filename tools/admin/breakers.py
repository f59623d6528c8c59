"""Circuit breakers in the admin: which services are left alone, since when, and how to end that."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.texts import moment
from tools.services.breaker_status import (
    BreakerState,
    RedisDown,
    ShownBreaker,
    breaker_status,
    reset_breaker,
)

COLOURS: Final = {"CLOSED": "success", "OPEN": "danger", "HALF-OPEN": "warning"}
PAGE: Final = "admin:tools_upstreamserver_breakers"
PAGES: Final = {
    "server": "admin:tools_upstreamserver_change",
    "service": "admin:tools_apiservice_change",
}
NO_REDIS: Final = "Redis cannot be reached, and the breakers are in it."


class BreakersView(UnfoldModelAdminViewMixin, TemplateView):
    """The breakers of all processes, those that hold calls back first."""

    title = "Breakers"
    permission_required = "tools.view_upstreamserver"
    template_name = "tools/admin/breakers.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Close one by hand."""
        if not request.user.has_perm("tools.change_upstreamserver"):
            raise PermissionDenied
        name = request.POST.get("breaker", "")
        try:
            if reset_breaker(name):
                told = f"The breaker of {name} is closed. The next call is let through."
                messages.success(request, told)
            else:
                messages.error(request, f"There is no breaker of {name!r}.")
        except RedisDown:
            messages.error(request, f"{NO_REDIS} Nothing was reset.")
        # From the page of a server or an API, where the next call is waited for.
        for word, page in PAGES.items():
            row = request.POST.get(word, "")
            if row.isdecimal():
                return redirect(page, row)
        return redirect(PAGE)

    @override
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "part" in request.GET:
            # Only what is of the moment.
            return render(request, "tools/admin/breakers_now.html", _breakers(request))
        return super().get(request, *args, **kwargs)

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, **_breakers(self.request), "part": f"{reverse(PAGE)}?part="}


def breakers_by_name() -> dict[str, ShownBreaker] | None:
    """Every breaker there is; None while Redis cannot be asked."""
    try:
        return {one.snapshot.service_name: one for one in breaker_status()}
    except RedisDown:
        return None


def _breakers(request: HttpRequest) -> dict[str, Any]:
    try:
        found = breaker_status()
    except RedisDown:
        return {"known": False}
    return {
        "known": True,
        "breakers": [_shown(one) for one in found],
        "may_change": request.user.has_perm("tools.change_upstreamserver"),
    }


def _shown(one: ShownBreaker) -> dict[str, Any]:
    found = one.snapshot
    failed = found.last_failure_time
    probe = "the next call" if found.state is BreakerState.HALF_OPEN else moment(one.next_probe)
    return {
        "one": found,
        "colour": COLOURS[found.state],
        "called": one.called,
        "next_probe": one.next_probe,
        "server": one.server,
        "figures": (
            ("Service", found.service_name),
            ("Failures in a row", f"{found.failure_count} of {found.failure_threshold}"),
            ("Last failure", "never" if failed is None else moment(failed)),
            ("Last change", moment(found.last_state_change) if one.called else "not called yet"),
            ("Next probe", probe),
            ("Recovery time", f"{found.recovery_timeout:g} s"),
        ),
    }
