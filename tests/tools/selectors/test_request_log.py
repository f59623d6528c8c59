"""Pages of the request log: each call once, in order, whatever is looked for and however little is read at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection

from tests.tools.log_rows import NOW, row
from tools.models import ToolRequest
from tools.selectors.request_log import (
    Cursor,
    Page,
    Sought,
    Way,
    count,
    page,
    pages,
    step,
    stream,
    way_to,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far is looked is a matter of pieces here, not of the pace of the machine."""
    monkeypatch.setattr(pages, "LONGEST_SECONDS", 600.0)


CALLS = 120
Matches = Callable[[ToolRequest], bool]
SOUGHT: dict[str, tuple[Sought, Matches]] = {
    "everything": (Sought(), lambda call: True),
    "tool": (Sought(tool="b"), lambda call: call.tool_id == "b"),
    "caller": (Sought(caller="client:2"), lambda call: call.caller == "client:2"),
    "failed": (Sought(statuses=("failure", "timeout")), lambda call: call.code != ""),
    "timeout": (Sought(statuses=("timeout",)), lambda call: call.status == "timeout"),
    "code": (Sought(code="TIMEOUT"), lambda call: call.code == "TIMEOUT"),
    "state": (Sought(state="completed"), lambda call: call.state == "completed"),
    "running": (Sought(running=True), lambda call: call.finished_at is None),
    "ended": (Sought(running=False), lambda call: call.finished_at is not None),
    "received": (Sought(state="received"), lambda call: call.state == "received"),
    "transport": (Sought(transport="cli"), lambda call: call.transport == "cli"),
    "hit": (Sought(cache="hit"), lambda call: call.cache_hit is True),
    "miss": (Sought(cache="miss"), lambda call: call.cache_hit is False),
    "not asked": (Sought(cache="none"), lambda call: call.cache_hit is None),
    "slow": (Sought(least_ms=1500), lambda call: (call.duration_ms or 0) >= 1500),
    "fast": (Sought(most_ms=500), lambda call: (call.duration_ms or 9999) <= 500),
    "stretch": (
        Sought(least_ms=400, most_ms=1600),
        lambda call: 400 <= (call.duration_ms or 0) <= 1600,
    ),
    "text": (Sought(text='say "Ümlaut"'), lambda call: "Ümlaut" in str(call.parameters)),
    "error": (Sought(text="BROKE"), lambda call: call.error != ""),
    "correlation": (Sought(correlation="t1"), lambda call: call.correlation_id == "t1"),
    "thread": (Sought(thread="h1"), lambda call: call.thread_id == "h1"),
    "names": (
        Sought(tools=("a", "c"), callers=("client:3",)),
        lambda call: call.tool_id in {"a", "c"} or call.caller == "client:3",
    ),
    "since": (
        Sought(since=NOW + timedelta(seconds=20)),
        lambda call: call.received_at >= NOW + timedelta(seconds=20),
    ),
    "until": (
        Sought(until=NOW + timedelta(seconds=20), tool="a"),
        lambda call: call.received_at < NOW + timedelta(seconds=20) and call.tool_id == "a",
    ),
    "several": (
        Sought(tool="a", statuses=("failure", "timeout"), transport="rest"),
        lambda call: call.tool_id == "a" and call.code != "" and call.transport == "rest",
    ),
    "tokens": (Sought(counted_tokens=True), lambda call: call.tokens_after is not None),
    "nothing": (Sought(nothing=True), lambda call: False),
}


@pytest.fixture
def calls(db: None) -> list[ToolRequest]:
    """Calls of all kinds, latest first; many arrived at one moment."""
    chance = random.Random(5)  # noqa: S311 - not for secrets
    made = [_call(chance) for _ in range(CALLS)]
    ToolRequest.objects.bulk_create(made)
    if connection.vendor == "sqlite":
        # As the journal writes it; Django would write letters beyond ASCII as escapes.
        with connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE tools_toolrequest SET parameters = %s WHERE call_id = %s",
                [(orjson.dumps(call.parameters).decode(), call.call_id.hex) for call in made],
            )
    return sorted(made, key=lambda call: (call.received_at, call.call_id), reverse=True)


def _call(chance: random.Random) -> ToolRequest:
    code = chance.choice(["", "", "", "TIMEOUT", "EXECUTION_ERROR"])
    values: dict[str, Any] = {
        "received_at": NOW + timedelta(seconds=chance.randrange(40)),
        "tool_id": chance.choice("abc"),
        "caller": f"client:{chance.randint(1, 3)}",
        "transport": chance.choice(["rest", "rest", "cli"]),
        "duration_ms": chance.uniform(0, 2000),
        "cache_hit": chance.choice([True, False, None]),
        "correlation_id": chance.choice(["", "t1"]),
        "thread_id": chance.choice(["", "h1"]),
        "tokens_after": chance.choice([None, 5]),
        "parameters": {"query": chance.choice(["plain", 'They say "Ümlaut" here'])},
    }
    if chance.random() < 0.1:
        open_ = {"state": "received", "status": "", "finished_at": None, "duration_ms": None}
        return row(**{**values, **open_})
    if code:
        status = "timeout" if code == "TIMEOUT" else "failure"
        values.update(state="failed", status=status, code=code, error="It broke")
    return row(**values)


def read_back(way: Any) -> list[Page]:
    """All pages from the newest on."""
    found = [page(way, most=7)]
    while found[-1].older is not None:
        found.append(page(way, before=found[-1].older, most=7))
    return found


def keys(rows: Any) -> list[Any]:
    return [call.pk for call in rows]


def steps(way: Way, place: Cursor, *, forward: bool) -> Iterator[Any]:
    """The keys of all calls from a place on, one step at a time."""
    while True:
        found = step(way, place, forward=forward)
        if found.call is not None:
            yield found.call.pk
        elif found.stopped is None:
            return
        place = found.stopped or Cursor.at(found.call)


def test_steps_from_any_call_meet_each_other_call_once_in_order(
    calls: list[ToolRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (2, 9))
    monkeypatch.setattr(pages, "SLOW_PIECES", (3,))
    for name, (sought, matches) in SOUGHT.items():
        for number in (0, len(calls) // 2, len(calls) - 1):
            place, way = Cursor.at(calls[number]), way_to(sought)
            older, newer = calls[number + 1 :], calls[:number][::-1]
            assert list(steps(way, place, forward=False)) == keys(filter(matches, older)), name
            assert list(steps(way, place, forward=True)) == keys(filter(matches, newer)), name


def test_pages_hold_each_call_once_in_order(
    calls: list[ToolRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (sought, matches) in SOUGHT.items():
        way, expected = way_to(sought), keys(filter(matches, calls))
        for piece in (2, 1000):
            monkeypatch.setattr(pages, "PIECES", (piece, 9))
            monkeypatch.setattr(pages, "SLOW_PIECES", (piece,))
            found = read_back(way)
            assert [key for one in found for key in keys(one.rows)] == expected, name
            assert [key for part in stream(way) for key in keys(part.rows)] == expected, name
            number, complete = count(way, found[0])
            assert number <= len(expected), name
            assert number == len(expected) or not complete, name


def test_going_forward_shows_the_same_calls(
    calls: list[ToolRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (5, 6))
    for name in ("everything", "tool", "transport", "failed"):
        sought, matches = SOUGHT[name]
        way, expected = way_to(sought), keys(filter(matches, calls))
        oldest = read_back(way)[-1]
        seen, shown = keys(oldest.rows), oldest
        while shown.newer is not None:
            shown = page(way, after=shown.newer, most=7)
            seen = [key for key in keys(shown.rows) if key not in seen] + seen
        # The newest page is a whole one: it shows some calls again.
        assert seen == expected, name
        assert shown.newest


def test_a_place_may_be_a_moment(calls: list[ToolRequest]) -> None:
    moment = NOW + timedelta(seconds=20)
    earlier = page(way_to(Sought()), before=Cursor(moment), most=CALLS).rows
    assert keys(earlier) == keys(call for call in calls if call.received_at < moment)
    later = page(way_to(Sought()), after=Cursor(moment), most=5).rows
    assert keys(later) == keys(call for call in calls if call.received_at > moment)[-5:]


def test_a_place_is_written_and_read(calls: list[ToolRequest]) -> None:
    for place in (Cursor.at(calls[0]), Cursor(NOW)):
        assert Cursor.parse(str(place)) == place


def test_looking_stops_and_tells_how_far_it_came(
    calls: list[ToolRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (10, 20))
    shown = page(way_to(Sought(transport="websocket")))
    assert shown.rows == []
    assert shown.looked == 30
    assert shown.looked_to == calls[29].received_at
    assert shown.older == Cursor(calls[29].received_at)


def test_looking_takes_no_further_piece_once_it_took_long(
    calls: list[ToolRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (10, 20))
    monkeypatch.setattr(pages, "LONGEST_SECONDS", -1)
    assert page(way_to(Sought(transport="websocket"))).looked == 10
