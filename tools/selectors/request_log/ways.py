"""By which index the calls somebody looks for are come by.

One condition leads to the rows, in order of their arrival; the others are asked of each row on the way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import BooleanField, F, Q, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast

from tools.contracts import FINAL_STATES
from tools.errors import CallStatus
from tools.models import ToolRequest
from tools.models.journal import SLOW_MS
from tools.selectors.request_log.sought import Sought

_WRONG: Final = {CallStatus.FAILURE.value, CallStatus.TIMEOUT.value}


@dataclass(frozen=True, slots=True)
class Way:
    """Rows that an index finds, and what else must hold for them."""

    rows: QuerySet[Any]
    rest: Q | None = None
    # So few rows at all that they need not be looked at piece by piece.
    few: bool = False
    # Asking the rest takes long.
    slow: bool = False

    @property
    def exact(self) -> bool:
        """Whether each row that is read is one of those looked for."""
        return self.few or self.rest is None

    def matching(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows if self.rest is None else rows.filter(self.rest)


def way_to(sought: Sought) -> Way:
    """The way that reads the fewest rows, as far as that is known without asking."""
    rows = _within(ToolRequest.objects.all(), sought)
    if sought.nothing or (sought.running is False and _unfinished(sought)):
        return Way(rows.none())
    asked = _conditions(sought)
    for name, leads, lead in _LEADS:
        if leads(sought):
            asked.pop(name, None)
            return _way(lead(rows, sought), asked, few=name in _FEW)
    return _way(rows, asked)


def _way(rows: QuerySet[Any], asked: Mapping[str, Q], *, few: bool = False) -> Way:
    if asked.keys() == {"running"}:
        # All but the few that run have ended: nearly each row that is read is one of those looked for.
        return Way(rows.filter(asked["running"]), few=few)
    rest = None
    for condition in asked.values():
        rest = condition if rest is None else rest & condition
    slow = "text" in asked
    if slow:
        rows = rows.alias(parameters_text=Cast("parameters", TextField()))
    return Way(rows, rest, few, slow)


def _within(rows: QuerySet[Any], sought: Sought) -> QuerySet[Any]:
    if sought.since is not None:
        rows = rows.filter(received_at__gte=sought.since)
    if sought.until is not None:
        rows = rows.filter(received_at__lt=sought.until)
    return rows


def _conditions(sought: Sought) -> dict[str, Q]:
    """What must hold, by what it is about."""
    plain = {
        "tool": Q(tool_id=sought.tool),
        "caller": Q(caller=sought.caller),
        "statuses": Q(status__in=sought.statuses),
        "code": Q(code=sought.code),
        "state": Q(state=sought.state),
        "transport": Q(transport=sought.transport),
        "source": Q(source=sought.source),
        "correlation": Q(correlation_id=sought.correlation),
        "thread": Q(thread_id=sought.thread),
    }
    found = {name: condition for name, condition in plain.items() if getattr(sought, name)}
    if sought.cache:
        found["cache"] = _CACHE[sought.cache]
    if sought.running is not None:
        found["running"] = Q(finished_at__isnull=sought.running)
    if sought.counted_tokens is not None:
        found["tokens"] = Q(tokens_after__isnull=not sought.counted_tokens)
    if sought.shortened is not None:
        shorter = Q(tokens_after__lt=F("tokens_before"))
        found["shortened"] = shorter if sought.shortened else ~shorter
    if sought.least_ms is not None:
        found["least"] = Q(duration_ms__gte=sought.least_ms)
    if sought.most_ms is not None:
        found["most"] = Q(duration_ms__lte=sought.most_ms)
    if sought.tools or sought.callers:
        found["names"] = Q(tool_id__in=sought.tools) | Q(caller__in=sought.callers)
    if sought.text:
        found["text"] = _containing(sought.text)
    return found


def _containing(text: str) -> Q:
    # In JSON some characters stand with a backslash.
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    return (
        Q(query_text__icontains=text)
        | Q(parameters_text__icontains=written)
        | Q(error__icontains=text)
    )


def _literally(condition: str) -> RawSQL:
    """The condition of a partial index, as it stands there: SQLite compares the words."""
    return RawSQL(condition, (), output_field=BooleanField())  # noqa: S611 - our own constants


_CACHE: Final = {
    "hit": Q(cache_hit=True),
    "miss": Q(cache_hit=False),
    "none": Q(cache_hit__isnull=True),
}
_TABLE: Final = ToolRequest._meta.db_table
_CORRELATED: Final = f'NOT ("{_TABLE}"."correlation_id" = \'\')'
_THREADED: Final = f'NOT ("{_TABLE}"."thread_id" = \'\')'
_FAILED: Final = f'NOT ("{_TABLE}"."code" = \'\')'
_SLOW: Final = f'"{_TABLE}"."duration_ms" >= {SLOW_MS}'

_Leads = Callable[[Sought], Any]
_Lead = Callable[[QuerySet[Any], Sought], QuerySet[Any]]
# Ids belong to a few rows, and only so many calls run at a time.
_FEW: Final = {"identifier", "running"}


def _unfinished(sought: Sought) -> bool:
    return bool(sought.running) or bool(sought.state and sought.state not in FINAL_STATES)


def _failed(sought: Sought) -> bool:
    wrong = bool(sought.statuses) and set(sought.statuses) <= _WRONG
    return wrong or bool(sought.code) or sought.state == "failed"


# The first that applies leads; what finds fewer rows stands before what finds more.
_LEADS: Final[tuple[tuple[str, _Leads, _Lead], ...]] = (
    (
        "identifier",
        lambda sought: sought.identifier,
        lambda rows, sought: rows.filter(
            Q(request_id=sought.identifier) | Q(call_id=sought.identifier)
        ),
    ),
    (
        "correlation",
        lambda sought: sought.correlation,
        lambda rows, sought: rows.filter(
            _literally(_CORRELATED), correlation_id=sought.correlation
        ),
    ),
    (
        "thread",
        lambda sought: sought.thread,
        lambda rows, sought: rows.filter(_literally(_THREADED), thread_id=sought.thread),
    ),
    ("running", _unfinished, lambda rows, sought: rows.filter(finished_at__isnull=True)),
    (
        "tool",
        lambda sought: sought.tool,
        lambda rows, sought: rows.filter(tool_id=sought.tool),
    ),
    (
        "caller",
        lambda sought: sought.caller,
        lambda rows, sought: rows.filter(caller=sought.caller),
    ),
    ("failed", _failed, lambda rows, sought: rows.filter(_literally(_FAILED))),
    (
        "slow",
        lambda sought: sought.least_ms is not None and sought.least_ms >= SLOW_MS,
        lambda rows, sought: rows.filter(_literally(_SLOW)),
    ),
)
