"""Sums over longer stretches say the same as the figures they were made from."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tools.backends.rows import finished, logged
from tools.errors import ErrorCode
from tools.figures import CallStatistics
from tools.models import CallFigures, CallSums, SumsSpan
from tools.models.sums import HOUR, SUM_LENGTHS
from tools.selectors.endings import endings
from tools.selectors.figures import (
    By,
    Chosen,
    aligned,
    all_calls,
    busiest,
    call_figures,
    call_series,
    each,
)
from tools.selectors.hours import tool_hours
from tools.selectors.leaders import Leaders, leaders
from tools.services import fold_figures as folding
from tools.services import sum_figures as summing
from tools.services.fold_figures import fold_figures

pytestmark = pytest.mark.django_db

AN_HOUR = timedelta(hours=1)
A_DAY = timedelta(days=1)
RANGES = (6 * AN_HOUR, A_DAY, 7 * A_DAY, 30 * A_DAY, 45 * A_DAY)
STEPS = (timedelta(minutes=20), AN_HOUR, 3 * AN_HOUR, 12 * AN_HOUR, A_DAY)


def some_calls(now: datetime, count: int = 30) -> None:
    """The same ones each time: most of the latest days, some of long ago."""
    chance = random.Random(7)  # noqa: S311 - not for secrets
    rows = []
    for number in range(count):
        ago = timedelta(days=chance.choice((0.2, 1, 3, 9, 44)) * chance.random())
        code = chance.choice((None, None, None, ErrorCode.TIMEOUT, ErrorCode.EXECUTION_ERROR))
        rows.append(
            finished(
                f"tool_{number % 4}",
                ago=datetime.now(UTC) - now + ago,
                code=code,
                caller=f"client:{number % 3}",
                source=("pipeline", "builtin")[number % 2],
                duration_ms=10.0 + 20 * number,
            )
        )
    logged(rows, dependency={"pipeline": "pipeline:basic"})


def rounded(found: Any) -> str:
    """Sums of fractions differ in the last digit by the order in which they were added."""
    return re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]):.6f}", repr(found))


def everything(now: datetime) -> list[str]:
    """All that is asked anywhere, over all ranges."""
    found: list[Any] = []
    for length in RANGES:
        since = aligned(now - length, now)
        found += [call_figures(since, now, by=by) for by in (None, *By)]
        found.append(call_figures(since, now, by=By.TOOL, chosen=Chosen(tools=["tool_1"])))
        ended = sorted(endings(since, now).items())
        found.append(
            [(tool, sorted((one.code, one.calls) for one in many)) for tool, many in ended]
        )
    for length, step in zip(RANGES, STEPS, strict=True):
        found.append(call_series(aligned(now - length, now), now, step))
    found.append(sorted(tool_hours(["tool_0", "tool_1"], now, 24).items()))
    return [rounded(one) for one in found]


def test_every_reading_is_the_same_before_and_after_summing() -> None:
    now = datetime.now(UTC)
    some_calls(now)
    fold_figures_only(now)
    before = everything(now)
    assert not CallSums.objects.exists()
    fold_figures(now)
    lengths = set(CallSums.objects.values_list("seconds", flat=True))
    assert lengths == set(SUM_LENGTHS)
    assert everything(now) == before
    # Where there are sums nothing is read from figures.
    month = aligned(now - 30 * A_DAY, now)
    counted = call_figures(month, now).total.total
    lost = CallFigures.objects.filter(begins_at__gte=month + A_DAY, begins_at__lt=now - 2 * A_DAY)
    assert lost.delete()[0] > 0
    assert call_figures(month, now).total.total == counted


def test_the_cheap_questions_are_answered_as_the_others() -> None:
    now = datetime.now(UTC)
    some_calls(now, 12)
    for _ in range(2):
        for length in (A_DAY, 30 * A_DAY):
            since = aligned(now - length, now)
            whole = call_figures(since, now, by=By.TOOL)
            together = replace(all_calls(since, now), by_tool=whole.total.by_tool)
            assert rounded(together) == rounded(whole.total)
            assert shown(each(By.TOOL, since, now)) == shown(whole.groups)
            assert_leading(leaders(By.TOOL, since, now, most=2, least_calls=2), whole.groups)
            callers = call_figures(since, now, by=By.CALLER, most=2).groups
            assert shown(busiest(By.CALLER, since, now, 2)) == shown(callers)
        fold_figures(now)


def assert_leading(found: Leaders, groups: Mapping[str, CallStatistics]) -> None:
    """They are the first two of everything told, put in order."""
    judged = [(name, one) for name, one in groups.items() if one.total >= 2]
    slow = sorted(judged, key=lambda item: (-(item[1].p95_ms or 0), item[0]))
    failing = sorted(
        [(name, one) for name, one in judged if one.error_rate],
        key=lambda item: (-item[1].error_rate, -item[1].total, item[0]),
    )
    assert shown(found.busiest) == shown(groups)[:2]
    assert shown(found.slowest) == shown(dict(slow))[:2]
    assert shown(found.failing) == shown(dict(failing))[:2]


def shown(groups: Mapping[str, CallStatistics]) -> list[tuple[Any, ...]]:
    """What lists of tools and callers show."""
    return [
        (name, one.total, one.by_code, one.error_rate, one.p50_ms, one.p95_ms)
        for name, one in groups.items()
    ]


def fold_figures_only(now: datetime) -> None:
    """What the release before sums did."""
    fold_figures(now)
    CallSums.objects.all().delete()
    SumsSpan.objects.all().delete()


def test_old_figures_are_summed_bit_by_bit_latest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    some_calls(now)
    fold_figures_only(now)
    before = everything(now)
    monkeypatch.setattr(folding, "OLD_SECONDS", 0.0)
    fold_figures(now)
    assert not CallSums.objects.exists()
    for _ in range(3):
        assert summing.sum_previous(HOUR, now) == 1
        assert everything(now) == before
    span = SumsSpan.objects.get(seconds=HOUR)
    latest = CallFigures.objects.filter(begins_at__lt=span.until).latest("begins_at")
    assert span.since < latest.begins_at < span.until


def test_what_comes_late_is_counted_once_in_every_sum() -> None:
    now = datetime.now(UTC)
    some_calls(now)
    fold_figures(now)
    ago = 3 * A_DAY
    since, until = aligned(now - 7 * A_DAY, now), now

    def counted() -> list[int]:
        by = [call_figures(since, until, by=one).total.total for one in By]
        return [*by, sum(one.calls.total for one in call_series(since, until, 3 * AN_HOUR))]

    before = counted()
    logged([finished("tool_0", ago=ago), finished("new", ago=ago, code=ErrorCode.TIMEOUT)])
    assert counted() == [one + 2 for one in before]
    fold_figures(now)
    assert counted() == [one + 2 for one in before]
    fold_figures(now + timedelta(minutes=1))
    assert counted() == [one + 2 for one in before]
    keys = CallSums.objects.values_list("by", "seconds", "begins_at", "name")
    assert len(keys) == len(set(keys))


def test_stretches_that_end_later_follow_and_neighbours_count_every_call_once() -> None:
    now = datetime.now(UTC)
    some_calls(now, 20)
    for hours in (0, 1, 7, 26, 60):
        later = now + timedelta(hours=hours)
        fold_figures(later)
        middle = aligned(later - 30 * AN_HOUR, later)
        ends = (now - 46 * A_DAY, middle, later + AN_HOUR)
        first, second = (call_figures(*two).total.total for two in pairwise(ends))
        assert first + second == 20
    assert set(SumsSpan.objects.values_list("seconds", flat=True)) == set(SUM_LENGTHS)


def test_short_sums_are_removed_before_long_ones_and_nothing_is_missed() -> None:
    now = datetime.now(UTC)
    some_calls(now, 20)
    fold_figures(now)
    for days, gone in ((3, 1), (10, 2), (42, 3), (470, 8)):
        left = set(SUM_LENGTHS[gone:])
        fold_figures(now + days * A_DAY)
        assert set(CallSums.objects.values_list("seconds", flat=True)) == left, days
        if left:
            assert call_figures(now - 46 * A_DAY, now + AN_HOUR).total.total == 20


def test_of_each_stretch_the_busiest_callers_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(summing, "CALLERS_TOLD", 2)
    now = datetime.now(UTC)
    ago = now - now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=3, minutes=-5)
    for number in range(4):
        logged(finished("a", ago=ago, caller=f"address:{number}") for _ in range(number + 1))
    fold_figures(now)
    found = CallSums.objects.filter(by="caller", seconds=HOUR).values_list("name", "calls")
    assert dict(found) == {"address:3": 4, "address:2": 3, "(others)": 3}


def test_a_beat_that_was_away_for_weeks_goes_on() -> None:
    now = datetime.now(UTC)
    some_calls(now, 10)
    fold_figures(now)
    later = now + 20 * A_DAY
    logged([finished("a", ago=timedelta(hours=1))])
    fold_figures(later)
    assert call_figures(now - 46 * A_DAY, later).total.total == 11


def test_a_month_is_read_in_one_statement_beside_the_spans() -> None:
    now = datetime.now(UTC)
    some_calls(now, 10)
    fold_figures(now)
    with CaptureQueriesContext(connection) as counted:
        call_figures(aligned(now - 30 * A_DAY, now), now, by=By.TOOL)
    assert len(counted) == 2
