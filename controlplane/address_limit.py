"""A second limit for those who guess passwords: so many failures from one address, whatever the names.

`django-axes` has one limit for all that it counts. Its rows are summed up here by address, so a row that an
administrator deletes, or that its person's own log-in forgives, does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import F, QuerySet, Sum, Value
from django.db.models.functions import Least
from django.http import HttpRequest
from django.utils import timezone
from typing_extensions import override

from controlplane.lockout import address_of


class AddressLimit(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """Names as axes has them, and addresses besides."""

    @override
    def is_locked(self, request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> bool:
        if super().is_locked(request, credentials):
            return True
        locked = is_address_locked(address_of(request))
        if locked:
            # Tells the middleware to answer so, which knows of names alone.
            vars(request)["axes_locked_out"] = True
        return locked

    @override
    def user_login_failed(
        self,
        sender: Any,
        credentials: dict[str, Any],
        request: HttpRequest | None = None,
        **rest: Any,
    ) -> None:
        """Attempts from a locked address do not count: nobody keeps it locked by going on."""
        if request is None or not vars(request).get("axes_locked_out"):
            super().user_login_failed(sender, credentials, request, **rest)


def is_address_locked(address: str | None) -> bool:
    """Whether nobody may log in from there now."""
    counted = recent_attempts().filter(ip_address=address)
    found: int | None = counted.aggregate(total=_guesses())["total"]
    return (found or 0) >= settings.ADDRESS_FAILURE_LIMIT


def locked_addresses() -> set[str | None]:
    """From where nobody may log in now."""
    sums = recent_attempts().values("ip_address").annotate(total=_guesses())
    found = sums.order_by().filter(total__gte=settings.ADDRESS_FAILURE_LIMIT)
    return set(found.values_list("ip_address", flat=True))


def _guesses() -> Sum:
    """How many passwords were tried. Rows of locked names go on counting, though nothing is checked any more."""
    return Sum(Least(F("failures_since_start"), Value(settings.AXES_FAILURE_LIMIT)))


def recent_attempts() -> QuerySet[AccessAttempt]:
    """What counts still. Nobody removes a row when its time is over."""
    rows: QuerySet[AccessAttempt] = AccessAttempt.objects.filter(attempt_time__gt=_since())
    return rows


def _since() -> datetime:
    since: datetime = timezone.now() - settings.AXES_COOLOFF_TIME
    return since
