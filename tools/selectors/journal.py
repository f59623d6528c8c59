"""What only the order of calls tells, from the request log. Counts and times come from the figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, F, Q, Window
from django.db.models.functions import Lag

from tools.contracts import FINAL_STATES
from tools.errors import CallStatus
from tools.models import ToolRequest

# So many calls are read at most, however long the stretch.
LATEST_READ: Final = 20_000
FAILURES: Final = (CallStatus.FAILURE.value, CallStatus.TIMEOUT.value)


@dataclass(frozen=True, slots=True)
class Retries:
    """Failed calls that their caller followed by another of the same tool; those that then worked."""

    tried: int = 0
    worked: int = 0


def error_retries(since: datetime, until: datetime) -> Retries:
    """Among the calls that arrived from `since` until before `until`, the latest 20,000 of them."""
    calls = ToolRequest.objects.filter(
        received_at__gte=since,
        received_at__lt=until,
        state__in=[state.value for state in FINAL_STATES],
    )
    arrived = calls.order_by("-received_at").values_list("received_at", flat=True)
    if earliest := arrived[LATEST_READ : LATEST_READ + 1].first():
        calls = calls.filter(received_at__gt=earliest)
    before = Window(
        Lag("status"), partition_by=[F("caller"), F("tool_id")], order_by=["received_at", "pk"]
    )
    found = (
        calls.order_by()
        .annotate(before=before)
        .filter(before__in=FAILURES)
        .aggregate(tried=Count("pk"), worked=Count("pk", filter=Q(status=CallStatus.SUCCESS.value)))
    )
    return Retries(found["tried"], found["worked"])
