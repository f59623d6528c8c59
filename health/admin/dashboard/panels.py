"""The numbers of a stretch of time, each with the way to the calls behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from health.admin.dashboard.charts import written
from health.admin.dashboard.ranges import Stretch
from tools.admin.request_log import addresses as log
from tools.errors import ErrorCode
from tools.figures import CallStatistics
from tools.selectors.figures import Point
from tools.selectors.leaders import Leaders
from tools.selectors.live import caller_names

LISTED: Final = 5
# Fewer calls say nothing about how slow a tool is, or how often it fails.
LEAST_CALLS: Final = 3
MILLIONS: Final = 100_000_000
# Whoever sends such calls can do something about it.
CALLERS_OWN: Final = frozenset(
    {ErrorCode.INVALID_ARGUMENTS, ErrorCode.TOOL_NOT_FOUND, ErrorCode.RATE_LIMITED}
)
Groups = Mapping[str, CallStatistics]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number; without a link for whoever may not see what is behind it."""

    name: str
    value: str
    about: str
    link: str
    bad: bool = False


# A figure, and the calls it was taken from.
Figure = tuple[str, str]
# Its name, all of its calls, and its figures.
Row = tuple[str, str, Sequence[Figure]]


@dataclass(frozen=True, slots=True)
class Table:
    """Names and figures of each, with the calls behind them."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Row]


def tiles(calls: CallStatistics, over: Stretch) -> list[Tile]:
    """What is known about all calls together."""

    def behind(**filters: str) -> str:
        return log.calls(over.since, over.until, **filters)

    wrong = calls.failed + calls.timeout
    asked = calls.cache_hits + calls.cache_misses
    saved = calls.tokens_before - calls.tokens_after
    return [
        Tile(
            "Calls",
            f"{calls.total:,}",
            f"{calls.queries_per_minute:,.1f} per minute",
            behind(**log.ENDED),
        ),
        Tile(
            "Failed", f"{wrong:,}", percent(calls.error_rate), behind(**log.FAILED), bad=wrong > 0
        ),
        Tile(
            "Time, p50",
            milliseconds(calls.p50_ms),
            "half are faster",
            behind(**log.taking(calls.p50_ms)),
        ),
        Tile(
            "Time, p95",
            milliseconds(calls.p95_ms),
            "19 of 20 are faster",
            behind(**log.taking(calls.p95_ms)),
        ),
        Tile(
            "From the cache",
            percent(calls.cache_hits / asked) if asked else "-",
            f"{calls.cache_hits:,} of {asked:,}",
            behind(cache_hit__exact="1"),
        ),
        Tile(
            "Tokens saved",
            many(saved),
            f"in {calls.shortened:,} shortened answers",
            behind(**log.SHORTENED),
        ),
    ]


def tables(tools: Leaders, callers: Groups, calls: CallStatistics, over: Stretch) -> list[Table]:
    """Who calls what, what is slow or fails, and how all that failed did."""
    names = caller_names(callers)
    return [
        _table("Busiest tools", tools.busiest, over, by="tool"),
        _table("Busiest callers", callers, over, by="caller", names=names),
        _table("Slowest tools", tools.slowest, over, by="tool", rows_are="slow"),
        _table("Most failing tools", tools.failing, over, by="tool", rows_are="failing"),
        _codes(calls, over),
    ]


def _table(
    name: str,
    groups: Groups,
    over: Stretch,
    *,
    by: str,
    names: Mapping[str, str] | None = None,
    rows_are: str = "",
) -> Table:
    rows = []
    for group, calls in groups.items():
        chosen = {f"{by}__exact": group}
        every = log.calls(over.since, over.until, **chosen, **log.ENDED)
        failed = log.calls(over.since, over.until, **chosen, **log.FAILED)
        slow = log.calls(over.since, over.until, **chosen, **log.taking(calls.p95_ms))
        figures = [
            (f"{calls.total:,}", every),
            (percent(calls.error_rate), failed),
            (milliseconds(calls.p95_ms), slow),
        ]
        leading = {"failing": failed, "slow": slow}.get(rows_are, every)
        rows.append(((names or {}).get(group, group), leading, figures))
    return Table(name, ("Calls", "Failed", "p95"), rows)


def _codes(calls: CallStatistics, over: Stretch) -> Table:
    """Whether the callers' mistakes make the rate of failures, or the service's own."""
    rows = []
    for code, count in calls.by_code.items():
        behind = log.calls(over.since, over.until, code__exact=code)
        whose = "the caller" if code in CALLERS_OWN else "the service"
        figures = [
            (f"{count:,}", behind),
            (percent(count / calls.total), behind),
            (whose, behind),
        ]
        rows.append((code, behind, figures))
    return Table("Failures by code", ("Calls", "Of all calls", "Lies with"), rows)


def many(count: int) -> str:
    """Exact while it fits a tile, then in millions."""
    return f"{count:,}" if count < MILLIONS else f"{count / 1_000_000:,.1f} million"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"


def steps(points: Iterable[Point], over: Stretch) -> list[Row]:
    """The charts as a table, for whoever cannot see them; steps without calls are left out."""
    return [_step(one, over) for one in points if one.calls.total]


def _step(one: Point, over: Stretch) -> Row:
    until = min(one.begins_at + over.step, over.until)
    every = log.calls(one.begins_at, until, **log.ENDED)
    figures = [
        (f"{one.calls.total:,}", every),
        (percent(one.calls.error_rate), log.calls(one.begins_at, until, **log.FAILED)),
        *(
            (milliseconds(time), log.calls(one.begins_at, until, **log.taking(time)))
            for time in (one.calls.p50_ms, one.calls.p95_ms)
        ),
    ]
    return written(one.begins_at), every, figures
