"""The front page of the admin: what it shows, and that every number leads to what is behind it."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from health.admin.dashboard.charts import charts
from health.admin.dashboard.ranges import RANGES, chosen, stretch
from health.models import StatusChange
from health.record import record
from tests.events import opening
from tests.factories import make_client, make_tool
from tests.health.admin.seen import call, linked, listed, rows, tiles
from tests.health.reports import report
from tests.tools.admin.pages import text
from tools.admin.charts import nice_top
from tools.conf import deployment
from tools.figures import CallStatistics
from tools.selectors.figures import Point
from tools.services.write_journal import write_events

pytestmark = pytest.mark.django_db

PAGE = "/admin/"
LIVE = "/admin/health/healthsnapshot/live/"
STATUS = "/admin/health/healthsnapshot/status/"


def failed(**changes: Any) -> None:
    call(status="failure", state="failed", code="EXECUTION_ERROR", error="broken", **changes)


def test_numbers_are_those_of_the_calls_and_lead_to_them(
    admin_client: Client, redis_url: str
) -> None:
    caller = make_client(name="agent")[0]
    for number in range(6):
        call(tool="echo", cache_hit=number == 0, duration_ms=10.0, caller=f"client:{caller.pk}")
    for _ in range(2):
        failed(tool="broken", duration_ms=900.0, tokens_before=900, tokens_after=300)
    # Counted, and short enough as it was.
    call(tool="echo", duration_ms=10.0, cache_hit=False, tokens_before=40, tokens_after=40)
    call(minutes=90, tool="echo")
    shown = tiles(text(admin_client.get(PAGE)))
    expected = {"Calls": ("9", 9), "Failed": ("2", 2), "From the cache": ("14.3 %", 1)}
    for name, (value, count) in expected.items():
        assert shown[name][0] == value, name
        assert listed(admin_client, shown[name][2]) == count, name
    assert shown["Failed"][1] == "22.2 %"
    assert shown["Tokens saved"][0] == "1,200"
    assert listed(admin_client, shown["Tokens saved"][2]) == 2
    # Percentiles are within 1 %.
    assert float(shown["Time, p95"][0].removesuffix(" ms")) == pytest.approx(900, rel=0.011)
    # Both lead to the calls that took as long, and not to all.
    assert listed(admin_client, shown["Time, p95"][2]) == 2
    assert listed(admin_client, shown["Time, p50"][2]) == 9
    assert tiles(text(admin_client.get(PAGE + "?range=6h")))["Calls"][0] == "10"


def test_tools_and_callers_are_ranked_and_lead_to_their_calls(
    admin_client: Client, redis_url: str
) -> None:
    caller = make_client(name='<b>"agent" & co</b>')[0]
    for _ in range(5):
        call(tool="quick", duration_ms=10.0, caller=f"client:{caller.pk}")
    for _ in range(3):
        call(tool="slow", duration_ms=4000.0)
    failed(tool="slow", duration_ms=4000.0)
    # Too few calls to be judged by.
    failed(tool="rare", duration_ms=9000.0, caller="admin:root")
    page = text(admin_client.get(PAGE))
    assert [name for name, _, _ in rows(page, "Busiest tools")] == ["quick", "slow", "rare"]
    assert [name for name, _, _ in rows(page, "Slowest tools")] == ["slow", "quick"]
    (failing,) = rows(page, "Most failing tools")
    assert (failing[0], failing[2][:2]) == ("slow", ["4", "25.0 %"])
    assert listed(admin_client, failing[1]) == 1
    ((_, _, behind),) = linked(page, "Most failing tools")
    assert [listed(admin_client, link) for link, _ in behind] == [4, 1, 4]
    busiest = rows(page, "Busiest callers")[0]
    assert busiest[0] == '<b>"agent" & co</b>'
    assert "<b>" not in page
    assert listed(admin_client, busiest[1]) == 5
    # The slow ones of a slow tool.
    call(tool="slow", duration_ms=1.0)
    again = text(admin_client.get(PAGE))
    (name, link, behind), _ = linked(again, "Slowest tools")
    assert (name, listed(admin_client, link)) == ("slow", 4)
    assert [listed(admin_client, link) for link, _ in behind] == [5, 1, 4]


def test_each_step_of_a_chart_leads_to_its_calls(admin_client: Client, redis_url: str) -> None:
    for minutes in (1, 1, 2, 7, 7):
        call(minutes=minutes, tool="echo")
    failed(minutes=7, tool="echo")
    page = text(admin_client.get(PAGE + "?range=15m"))
    first = page.split("<figure")[1].split("</figure>")[0]
    links = [unescape(link) for link in re.findall(r'<a href="([^"]+)" tabindex', first)]
    assert len(links) in {15, 16}
    assert sum(listed(admin_client, link) for link in links) == 6
    errors = page.split("<figure")[2].split("</figure>")[0]
    failures = [unescape(link) for link in re.findall(r'<a href="([^"]+)" tabindex', errors)]
    assert sum(listed(admin_client, link) for link in failures) == 1
    as_table = rows(page, "The charts as a table")
    assert sum(int(figures[0]) for _, _, figures in as_table) == 6
    assert all(listed(admin_client, link) == int(given[0]) for _, link, given in as_table)


def test_times_of_a_step_lead_to_the_calls_that_took_as_long(
    admin_client: Client, redis_url: str
) -> None:
    at = datetime.now(UTC) - timedelta(minutes=5)
    for time in (*[10.0] * 18, 700.0, 900.0):
        call(minutes=(datetime.now(UTC) - at).total_seconds() / 60, tool="echo", duration_ms=time)
    ((_, _, figures),) = linked(text(admin_client.get(PAGE)), "The charts as a table")
    assert [listed(admin_client, link) for link, _ in figures] == [20, 0, 20, 2]


def test_failures_are_told_by_code_and_by_whose_they_are(
    admin_client: Client, redis_url: str
) -> None:
    for code, count in (("INVALID_ARGUMENTS", 3), ("SERVICE_UNAVAILABLE", 2), ("RATE_LIMITED", 1)):
        for _ in range(count):
            call(tool="echo", status="failure", state="failed", code=code, error="no")
    call(tool="echo", status="timeout", state="failed", code="TIMEOUT", error="late")
    call(tool="echo")
    page = text(admin_client.get(PAGE))
    found = {
        name: (figures, listed(admin_client, link))
        for name, link, figures in rows(page, "Failures by code")
    }
    assert found == {
        "INVALID_ARGUMENTS": (["3", "37.5 %", "the caller"], 3),
        "SERVICE_UNAVAILABLE": (["2", "25.0 %", "the service"], 2),
        "RATE_LIMITED": (["1", "12.5 %", "the caller"], 1),
        "TIMEOUT": (["1", "12.5 %", "the service"], 1),
    }
    for _, _, figures in linked(page, "Failures by code"):
        assert all(listed(admin_client, link) == int(figures[0][1]) for link, _ in figures)


def test_status_its_reasons_and_incidents_are_told(admin_client: Client, redis_url: str) -> None:
    assert "Nobody has measured yet" in text(admin_client.get(PAGE))
    record(report())
    record(report("worker", later=5))
    page = " ".join(text(admin_client.get(PAGE)).split())
    assert "degraded" in page.split("What was found")[0]
    assert "worker is away" in page
    change = StatusChange.objects.order_by("at").last()
    assert change is not None
    link = reverse("admin:health_statuschange_change", args=[change.pk])
    assert f'href="{link}"' in page
    assert admin_client.get(link).status_code == 200


def test_status_is_renewed_alone(client: Client, admin_client: Client, redis_url: str) -> None:
    assert f'data-follow="{STATUS}"' in text(admin_client.get(PAGE))
    record(report())
    assert "healthy" in text(admin_client.get(STATUS))
    record(report("worker", later=5))
    part = text(admin_client.get(STATUS))
    assert "worker is away" in part
    assert "<html" not in part
    person = User.objects.create_user("somebody", is_staff=True)
    client.force_login(person)
    assert client.get(STATUS).status_code == 403


def test_report_that_is_too_old_is_not_believed(admin_client: Client, redis_url: str) -> None:
    # S0-079
    record(report(later=-300))
    page = " ".join(text(admin_client.get(PAGE)).split())
    assert "It was healthy 5 minutes ago, and nobody has measured since." in page


def test_what_runs_now_is_renewed_alone(admin_client: Client, redis_url: str) -> None:
    assert tiles(text(admin_client.get(LIVE)))["Running calls"][0] == "0"
    at = datetime.now(UTC).isoformat()
    write_events([json.dumps(opening(str(uuid.uuid4()), received_at=at, state="executing"))])
    part = text(admin_client.get(LIVE))
    assert "<html" not in part
    shown = tiles(part)
    assert shown["Running calls"][0] == "1"
    assert listed(admin_client, shown["Running calls"][2]) == 1
    assert shown["Breakers"][0] == "all closed"
    assert (shown["Waiting"][0], shown["Not yet logged"][0]) == ("0", "0")
    for _, _, link in shown.values():
        assert admin_client.get(link).status_code == 200
    assert f'data-follow="{LIVE}"' in text(admin_client.get(PAGE))


def test_page_works_without_redis(admin_client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        call(tool="echo")
        shown = tiles(text(admin_client.get(PAGE)))
    finally:
        deployment.cache_clear()
    assert shown["Calls"][0] == "1"
    for name in ("Running queries", "Waiting", "Not yet logged", "Breakers"):
        assert shown[name][:2] == ("not known", "Redis cannot be reached")


def test_people_see_what_they_may_look_at(client: Client, redis_url: str) -> None:
    person = User.objects.create_user("viewer", password="x", is_staff=True)
    client.force_login(person)
    call(tool="echo")
    record(report("worker"))
    page = text(client.get(PAGE))
    assert tiles(page) == {}
    assert "Nothing is shown here to you" in page
    assert "What was found" not in page
    assert client.get(LIVE).status_code == 403
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    assert tiles(text(client.get(PAGE)))["Calls"][0] == "1"
    assert client.get(LIVE).status_code == 200


@pytest.mark.parametrize("name", [*RANGES, "nonsense"])
def test_every_range_can_be_shown_in_few_queries(
    admin_client: Client, redis_url: str, name: str
) -> None:
    for number in range(20):
        make_tool(name=f"tool_{number}")
        call(tool=f"tool_{number}", minutes=number)
    with CaptureQueriesContext(
        connection,
    ) as counted:
        answer = admin_client.get(PAGE, {"range": name})
    assert answer.status_code == 200
    assert len(counted) <= 30
    assert f">{chosen(name).name}</a>" in text(answer)


def test_very_large_numbers_are_told_in_millions(admin_client: Client, redis_url: str) -> None:
    for _ in range(2):
        call(tool="echo", tokens_before=1_000_000_000, tokens_after=300)
    shown = tiles(text(admin_client.get(PAGE)))
    assert shown["Tokens saved"][0] == "2,000.0 million"


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.3, 1), (1, 1), (1.1, 2), (4, 5), (7, 10), (10, 10), (1234, 2000)]
)
def test_the_top_of_a_chart_is_the_next_round_number(value: float, top: float) -> None:
    assert nice_top(value, 1) == top


def test_lines_have_gaps_where_there_was_nothing_to_measure() -> None:
    over = stretch(chosen("15m"), datetime(2026, 11, 1, 12, tzinfo=UTC))
    busy = CallStatistics(total=2, successful=1, failed=1, p50_ms=5.0, p95_ms=8.0, minutes=1)
    idle = CallStatistics(minutes=1)
    points = [
        Point(over.since + number * over.step, busy if number in {0, 1, 5} else idle)
        for number in range(15)
    ]
    rate, errors, times = charts(points, over)
    assert rate.top == "2"
    assert [len(bar.parts) for bar in rate.bars][:3] == [2, 2, 0]
    (failing,) = errors.lines
    assert (len(failing.pieces), len(failing.dots)) == (1, 1)
    assert errors.top == "50"
    assert [line.name for line in times.lines] == ["p50", "p95"]
    assert times.top == "10"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("15m", ["14:25", "14:30", "14:35"]),
        ("1h", ["13:45", "14:00", "14:15", "14:30"]),
        ("6h", ["10:00", "12:00", "14:00"]),
        ("24h", ["18:00", "00:00", "06:00", "12:00"]),
        ("7d", ["03-05", "03-07", "03-09"]),
        ("30d", ["02-15", "02-22", "03-01", "03-08"]),
    ],
)
def test_charts_have_round_times_between_their_ends(
    settings: Settings, name: str, words: list[str]
) -> None:
    settings.TIME_ZONE = "UTC"
    until = datetime(2026, 3, 10, 14, 36, tzinfo=UTC)
    over = stretch(chosen(name), until)
    number = (over.until - over.since) // over.step
    points = [
        Point(over.since + place * over.step, CallStatistics(minutes=1)) for place in range(number)
    ]
    for chart in charts(points, over):
        assert [one.word for one in chart.ticks] == words
        for one in chart.ticks:
            # A little later, for percents are rounded.
            share = (float(one.percent) + 0.006) / 100
            assert 0.06 <= share <= 0.941
            moment = over.since + share * number * over.step
            assert one.word == f"{moment:{'%m-%d' if '-' in one.word else '%H:%M'}}"


def test_times_between_the_ends_are_on_the_page(admin_client: Client, redis_url: str) -> None:
    page = text(admin_client.get(f"{PAGE}?range=24h"))
    shown = re.findall(r'<div class="ticks" aria-hidden="true">(.*?)</div>', page)
    assert len(shown) == 3
    for row in shown:
        found = re.findall(r'<span style="left: [\d.]+%">(\d\d:00)</span>', row)
        assert set(found) <= {"00:00", "06:00", "12:00", "18:00"}
        assert len(found) in {3, 4}
