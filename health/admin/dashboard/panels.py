"""The numbers of a stretch of time, each with the way to the calls behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from health.admin.dashboard import log
from health.admin.dashboard.charts import written
from health.admin.dashboard.ranges import Stretch
from tools.figures import CallStatistics
from tools.selectors.figures import Point
from tools.selectors.live import caller_names

LISTED: Final = 5
# Fewer calls say nothing about how slow a tool is, or how often it fails.
LEAST_CALLS: Final = 3
Groups = Mapping[str, CallStatistics]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number."""

    name: str
    value: str
    about: str
    link: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Names and figures of each, with the calls behind them."""

    name: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[str]]]


def tiles(calls: CallStatistics, over: Stretch) -> list[Tile]:
    """What is known about all calls together."""

    def behind(**filters: str) -> str:
        return log.calls(over.since, over.until, **filters)

    wrong = calls.failed + calls.timeout
    asked = calls.cache_hits + calls.cache_misses
    saved = calls.tokens_before - calls.tokens_after
    return [
        Tile("Calls", f"{calls.total:,}", f"{calls.queries_per_minute:,.1f} per minute", behind()),
        Tile(
            "Failed", f"{wrong:,}", percent(calls.error_rate), behind(**log.FAILED), bad=wrong > 0
        ),
        Tile("Time, p50", milliseconds(calls.p50_ms), "half are faster", behind()),
        Tile("Time, p95", milliseconds(calls.p95_ms), "19 of 20 are faster", behind()),
        Tile(
            "From the cache",
            percent(calls.cache_hits / asked) if asked else "-",
            f"{calls.cache_hits:,} of {asked:,}",
            behind(cache_hit__exact="1"),
        ),
        Tile(
            "Tokens saved",
            f"{saved:,}",
            f"in {calls.shortened:,} shortened answers",
            behind(tokens_after__isnull="False"),
        ),
    ]


def tables(tools: Groups, callers: Groups, over: Stretch) -> list[Table]:
    """Who calls what, and what is slow or fails."""
    judged = {name: one for name, one in tools.items() if one.total >= LEAST_CALLS}
    slow = sorted(judged.items(), key=lambda item: (-(item[1].p95_ms or 0), item[0]))
    failing = sorted(
        (item for item in judged.items() if item[1].error_rate),
        key=lambda item: (-item[1].error_rate, -item[1].total, item[0]),
    )
    names = caller_names(callers)
    return [
        _table("Busiest tools", tools.items(), over, by="tool"),
        _table("Busiest callers", callers.items(), over, by="caller", names=names),
        _table("Slowest tools", slow, over, by="tool"),
        _table("Most failing tools", failing, over, by="tool", only=log.FAILED),
    ]


def _table(
    name: str,
    groups: Iterable[tuple[str, CallStatistics]],
    over: Stretch,
    *,
    by: str,
    names: Mapping[str, str] | None = None,
    only: Mapping[str, str] | None = None,
) -> Table:
    rows = [
        (
            (names or {}).get(group, group),
            log.calls(over.since, over.until, **{f"{by}__exact": group}, **(only or {})),
            (f"{calls.total:,}", percent(calls.error_rate), milliseconds(calls.p95_ms)),
        )
        for group, calls in list(groups)[:LISTED]
    ]
    return Table(name, ("Calls", "Failed", "p95"), rows)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"


def steps(points: Iterable[Point], over: Stretch) -> list[tuple[str, str, Sequence[str]]]:
    """The charts as a table, for whoever cannot see them; steps without calls are left out."""
    return [
        (
            written(one.begins_at),
            log.calls(one.begins_at, min(one.begins_at + over.step, over.until)),
            (
                f"{one.calls.total:,}",
                percent(one.calls.error_rate),
                milliseconds(one.calls.p50_ms),
                milliseconds(one.calls.p95_ms),
            ),
        )
        for one in points
        if one.calls.total
    ]
