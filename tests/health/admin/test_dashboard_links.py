"""A list behind a number has as many rows as the number says, or the page says why it has fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from pytest_django import Settings

from health.record import record
from tests.factories import make_client, make_tool
from tests.health.admin.seen import begun, call, linked, listed, tiles
from tests.health.reports import full_report
from tests.tools.admin.pages import address, text
from tools.conf import deployment
from tools.models import ApiClient, Tool
from tools.services.prune_journal import kept_since

pytestmark = pytest.mark.django_db

PAGE = "/admin/"
LOG = "/admin/tools/toolrequest/"
REASON = re.compile(r'<li class="bad"><a href="([^"]+)">([^<]+)</a></li>')
STEP = re.compile(r'<a href="([^"]+)" tabindex="-1" aria-label="[^"]*: (\d+) calls, (\d+) failed')


def counted(page: str, name: str) -> list[tuple[int, str]]:
    """The numbers of calls in the first column of a table, and where they lead."""
    return [(int(figures[0][1]), figures[0][0]) for _, _, figures in linked(page, name)]


def test_calls_under_way_are_not_in_lists_of_those_that_were_counted(
    admin_client: Client, redis_url: str
) -> None:
    caller = f"client:{make_client(name='agent')[0].pk}"
    for tool in ("echo", "echo", "other"):
        call(tool=tool, caller=caller)
    call(tool="echo", caller=caller, status="failure", state="failed", code="TIMEOUT", error="no")
    for _ in range(2):
        begun(tool="echo", caller=caller)
    page = text(admin_client.get(PAGE))
    shown = tiles(page)
    assert (shown["Calls"][0], listed(admin_client, shown["Calls"][2])) == ("4", 4)
    assert (shown["Running calls"][0], listed(admin_client, shown["Running calls"][2])) == ("2", 2)
    for name in ("Busiest tools", "Busiest callers", "Slowest tools", "The charts as a table"):
        found = counted(page, name)
        assert found, name
        assert [listed(admin_client, link) for _, link in found] == [one for one, _ in found], name
    rates, errors, times = ("<figure" + one for one in page.split("<figure")[1:4])
    for chart, place in ((rates, 2), (errors, 3), (times, 2)):
        (step,) = STEP.finditer(chart)
        assert listed(admin_client, unescape(step[1])) == int(step[place])


def test_calls_of_a_tool_and_of_a_client_are_those_that_ended(
    admin_client: Client, redis_url: str
) -> None:
    make_tool(name="echo")
    client, _ = make_client(name="agent")
    call(tool="echo", caller=f"client:{client.pk}")
    begun(tool="echo", caller=f"client:{client.pk}")
    pages = (
        address(Tool, "changelist"),
        address(ApiClient, "changelist"),
        address(ApiClient, "usage", client.pk),
    )
    for page in pages:
        links = re.findall(rf'href="({LOG}[^"]+)"[^>]*>1<', text(admin_client.get(page)))
        assert links, page
        assert {listed(admin_client, unescape(link)) for link in links} == {1}, page


def test_a_list_of_calls_that_ended_is_counted_and_filtered_further(admin_client: Client) -> None:
    call(tool="echo")
    call(tool="echo", transport="websocket")
    begun(tool="echo", transport="websocket")
    ended = {"finished_at__isnull": "False"}
    assert "<strong>2 calls</strong>" in text(admin_client.get(LOG, ended))
    for narrower, count in (
        ({"transport__exact": "websocket"}, 1),
        ({"text": "echo"}, 0),
        ({"tool__exact": "echo"}, 2),
        ({"state__exact": "executing"}, 0),
        ({"status__in": "failure"}, 0),
    ):
        found = admin_client.get(LOG, {**ended, **narrower}).context["cl"].result_count
        assert found == count, narrower


def test_each_reason_leads_to_where_its_subject_is_shown(
    client: Client, admin_client: Client, redis_url: str
) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_healthsnapshot"))
    client.force_login(viewer)
    found = full_report()
    record(found)
    for person in (admin_client, client):
        status = text(person.get(PAGE)).split('aria-label="Status"')[1].split("</section>")[0]
        reasons = REASON.findall(status)
        # Databases keep no order of keys.
        assert sorted(unescape(told) for _, told in reasons) == sorted(found.reasons)
        for link, told in reasons:
            page, _, place = unescape(link).partition("#")
            shown = text(person.get(page))
            (row,) = re.findall(rf'<tr id="{unquote(place)}"(.*?)</tr>', shown, re.DOTALL)
            subject, _, what = told.rpartition(": ")
            assert subject.removeprefix("pipeline ") in row
            assert what in row
            assert f'href="#{place}"' in shown


@pytest.fixture
def kept_a_week(settings: Settings) -> Iterator[None]:
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "JOURNAL_RETENTION_DAYS": 7}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


@pytest.mark.usefixtures("kept_a_week")
def test_figures_that_outlive_the_log_are_said_to(admin_client: Client, redis_url: str) -> None:
    told = "Calls are kept in the log for 7 days; figures before are sums alone."
    assert told in text(admin_client.get(PAGE, {"range": "30d"}))
    assert told in text(admin_client.get("/admin/health/healthsnapshot/calls/", {"range": "30d"}))
    for name in ("15m", "24h"):
        assert told not in text(admin_client.get(PAGE, {"range": name}))


@pytest.mark.usefixtures("kept_a_week")
def test_the_log_says_that_older_calls_are_gone(admin_client: Client, redis_url: str) -> None:
    told = "Calls are kept in the log for 7 days; older ones are gone."
    now = datetime.now(UTC)
    long_ago, lately = ((now - timedelta(days=days)).isoformat() for days in (9, 5))
    for asked in (
        {"received_at__gte": long_ago},
        {"received_at__lt": long_ago},
        {"before": long_ago, "received_at__lt": lately},
    ):
        assert told in text(admin_client.get(LOG, asked)), asked
    for asked in ({}, {"received_at__gte": lately}, {"within": "7d"}, {"received_at__lt": lately}):
        assert told not in text(admin_client.get(LOG, asked)), asked


@pytest.mark.usefixtures("kept_a_week")
def test_calls_are_kept_for_whole_days_where_days_are_dropped() -> None:
    since = kept_since(datetime(2026, 3, 10, 14, 30, tzinfo=UTC))
    whole = connection.vendor == "postgresql"
    assert since == datetime(2026, 3, 3, *((0, 0) if whole else (14, 30)), tzinfo=UTC)
