"""Figures are added up without a call being lost or counted twice."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, IntegrityError, connections

from tests.events import closing, opening
from tests.factories import make_tool
from tests.tools.backends.rows import finished, invalid, logged, unknown_tool
from tools.contracts import time_ordered_uuid
from tools.errors import ErrorCode
from tools.figures import Number
from tools.models import CallFigures, CallTotals, ToolRequest
from tools.models.figures import FRESH, HOUR, MINUTE
from tools.selectors.figures import By, call_figures
from tools.selectors.sums import OTHER_CALLERS
from tools.selectors.totals import call_totals
from tools.services import fold_figures as folding
from tools.services.fold_figures import fold_figures
from tools.tasks import fold_figures as task

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def lengths() -> dict[int, int]:
    """Calls by the length of the stretch that they are kept in; as many by caller as together."""
    found: dict[int, int] = {}
    told_apart: dict[int, int] = {}
    for seconds, caller, calls in CallFigures.objects.values_list("seconds", "caller", "calls"):
        counts = told_apart if caller else found
        counts[seconds] = counts.get(seconds, 0) + calls
    fresh = told_apart.pop(FRESH, 0)
    assert told_apart == found
    return {**found, FRESH: fresh} if fresh else found


def total() -> int:
    return int(sum(tally[Number.CALLS] for tally in call_totals().values()))


def mixed(ago: timedelta = timedelta()) -> None:
    """Seven calls in three batches."""
    logged(finished("a", ago=ago, duration_ms=float(time)) for time in (1, 50, 900))
    logged([finished("a", ago=ago, code=ErrorCode.TIMEOUT), finished("b", ago=ago, cache_hit=True)])
    logged([invalid("a"), unknown_tool("made_up")])


def test_batches_become_one_row_a_minute_and_nothing_changes_for_readers() -> None:
    make_tool(name="a")
    make_tool(name="b")
    mixed()
    now = datetime.now(UTC) + timedelta(minutes=1)
    before = [call_figures(now - DAY, now, by=by) for by in By]
    counted = {key: tally.numbers for key, tally in call_totals().items()}
    assert set(lengths()) == {FRESH}
    assert task() > 0
    assert lengths() == {MINUTE: 7}
    assert [call_figures(now - DAY, now, by=by) for by in By] == before
    assert {key: tally.numbers for key, tally in call_totals().items()} == counted
    mixed()
    fold_figures()
    keys = CallFigures.objects.values_list("begins_at", "tool", "caller", "status", "code")
    assert len(set(keys)) == len(keys)
    assert (lengths(), total()) == ({MINUTE: 14}, 14)


def test_old_minutes_become_hours_and_very_old_hours_go_but_totals_stay() -> None:
    mixed()
    now = datetime.now(UTC)
    fold_figures(now)
    fold_figures(now + 1.9 * DAY)
    assert set(lengths()) == {MINUTE}
    fold_figures(now + 2.2 * DAY)
    assert lengths() == {HOUR: 7}
    found = call_figures(now - DAY, now + timedelta(minutes=1)).total
    assert found.total == 7
    assert found.p50_ms == pytest.approx(10.0, rel=0.01)
    fold_figures(now + 402 * DAY)
    assert (lengths(), total()) == ({}, 7)


def test_a_call_that_comes_late_is_added_to_the_hour_it_belongs_to() -> None:
    now = datetime.now(UTC)
    logged([finished("a", ago=5 * DAY)])
    fold_figures(now)
    logged([finished("a", ago=5 * DAY)])
    fold_figures(now)
    assert lengths() == {HOUR: 2}
    assert list(CallFigures.objects.values_list("calls", flat=True)) == [2, 2]


def test_of_an_hour_that_is_past_the_busiest_callers_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folding, "CALLERS_KEPT", 2)
    monkeypatch.setattr(folding, "AT_ONCE", 3)
    now = datetime.now(UTC)
    start = now - now.replace(minute=0, second=0, microsecond=0)
    for number in range(5):
        logged(
            finished("a", ago=start - timedelta(minutes=2 * turn), caller=f"address:{number}")
            for turn in range(number + 1)
        )
    fold_figures(now)
    fold_figures(now + 3 * DAY)
    found = dict(CallFigures.objects.values_list("caller", "calls"))
    assert found == {"": 15, "address:4": 5, "address:3": 4, OTHER_CALLERS: 6}


def test_totals_of_a_deleted_tool_lose_its_name_and_nothing_else() -> None:
    tool = make_tool(name="a")
    make_tool(name="b")
    mixed()
    fold_figures()
    assert set(CallTotals.objects.values_list("tool", flat=True)) == {"", "a", "b"}
    before = {key[1:]: tally.numbers for key, tally in call_totals().items() if key[0] == "a"}
    tool.delete()
    fold_figures()
    assert set(CallTotals.objects.values_list("tool", flat=True)) == {"", "b"}
    after = {key[1:]: tally.numbers for key, tally in call_totals().items() if not key[0]}
    assert before.items() <= after.items()
    assert total() == 7


def test_what_arrives_twice_or_was_given_up_counts_once() -> None:
    call_id, lost = str(time_ordered_uuid()), str(time_ordered_uuid())
    event = closing(call_id, dependency="mcp:one")
    ToolRequest.objects.apply([opening(call_id), event, event])
    ToolRequest.objects.apply([event])
    ToolRequest.objects.apply([opening(lost)])
    deadline = datetime(2026, 11, 1, 13, tzinfo=UTC)
    assert (ToolRequest.objects.sweep(deadline), ToolRequest.objects.sweep(deadline)) == (1, 0)
    ToolRequest.objects.apply([closing(lost)])
    moment = datetime(2026, 11, 1, 12, tzinfo=UTC)
    found = call_figures(moment, moment + DAY, by=By.DEPENDENCY)
    assert (found.total.total, found.total.by_code) == (2, {"INTERNAL_ERROR": 1})
    assert found.total.average_ms == 12.5
    assert list(found.groups) == ["mcp:one"]


def test_a_batch_that_fails_counts_nothing() -> None:
    good, bad = str(time_ordered_uuid()), str(time_ordered_uuid())
    with pytest.raises(IntegrityError):
        ToolRequest.objects.apply([closing(good), closing(bad, duration_ms=None, status="timeout")])
    assert (ToolRequest.objects.count(), total()) == (0, 0)


@pytest.fixture
def many_batches(transactional_db: None) -> None:
    for _ in range(40):
        mixed()


def test_two_at_once_add_up_every_call_once(many_batches: None) -> None:
    faults: list[DatabaseError] = []

    def run() -> None:
        try:
            fold_figures()
        except DatabaseError as fault:
            faults.append(fault)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    fold_figures()
    assert (lengths(), total()) == ({MINUTE: 280}, 280)
