"""What callers did over a stretch of time, in sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, Sum

from tools.errors import CallStatus
from tools.selectors.figures import figures_between


@dataclass(frozen=True, slots=True)
class CallerSums:
    """Calls of one caller: all, those that did not succeed, of these those refused for lack of room; tokens it got.

    Not every answer is counted in tokens.
    """

    calls: int = 0
    failed: int = 0
    refused: int = 0
    tokens: int = 0


def caller_sums(
    callers: Collection[str], since: datetime, until: datetime
) -> Mapping[str, CallerSums]:
    """The sums of those of `callers` that called."""
    rows = figures_between(since, until, by_caller=True).filter(caller__in=sorted(callers))
    wrong = Sum("calls", filter=~Q(status=CallStatus.SUCCESS.value), default=0)
    found = rows.values_list("caller").annotate(
        all_=Sum("calls"),
        wrong=wrong,
        refused=Sum("refused_rate") + Sum("refused_slot"),
        told=Sum("tokens_after"),
    )
    return {caller: CallerSums(*sums) for caller, *sums in found}
