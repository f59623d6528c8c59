"""The strips above the history of health."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from health.findings import Dependency
from health.models import HealthSnapshot
from health.record import record
from health.status import DependencyStatus
from tests.health.reports import report
from tests.tools.admin.pages import address, text

pytestmark = pytest.mark.django_db

ROW = re.compile(r'<li class="course">(.*?)</li>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def rows(page: str) -> list[str]:
    """The words of each strip."""
    return [" ".join(unescape(TAG.sub(" ", row)).split()) for row in ROW.findall(page)]


def test_the_history_shows_how_long_everything_was_well(admin_client: Client) -> None:
    # S0-014
    record(report(later=-3000))
    record(report("worker", later=-2000))
    record(report(later=-200))
    page = text(admin_client.get(address(HealthSnapshot, "changelist")))
    shown = rows(page)
    assert [line.split(" % ")[0].rsplit(" ", 1)[0] for line in shown] == [
        "Service",
        "Dependency worker",
        "Dependency database",
        "Dependency redis",
    ]
    assert shown[1].endswith("of the time well not well for 30 minutes")
    assert shown[2] == "Dependency database 100 % of the time well"


def test_what_was_not_well_leads_to_its_changes(admin_client: Client) -> None:
    record(report(later=-3000))
    record(report("worker", later=-2000))
    record(report(later=-200))
    page = text(admin_client.get(address(HealthSnapshot, "changelist")))
    worker = next(row for row in ROW.findall(page) if "Dependency worker" in row)
    links = [unescape(link) for link in re.findall(r'href="([^"]+)"', worker)]
    # That of the words has both changes; those of steps have the ones of their half hours.
    found = [admin_client.get(link).context["cl"].result_list for link in links]
    assert len(found[-1]) == 2
    assert {row.name for rows in found for row in rows} == {"worker"}
    assert sum(len(rows) for rows in found[:-1]) <= 2


def test_another_time_keeps_the_filters_of_the_rounds(admin_client: Client) -> None:
    record(report(later=-2))
    listing = address(HealthSnapshot, "changelist")
    page = admin_client.get(listing, {"span": "7d", "status__exact": "healthy"})
    assert [row.status for row in page.context["cl"].result_list] == ["healthy"]
    assert 'href="?status__exact=healthy&amp;span=24h"' in text(page)
    assert re.search(r'class="active" aria-current="true">7d<', text(page))
    # Rounds are kept for seven days: of more nobody knows when anything was measured.
    assert ">30d<" not in text(page)
    assert admin_client.get(listing, {"span": "for ever"}).status_code == 200


def test_who_may_not_see_changes_is_not_led_there(client: Client) -> None:
    record(report("worker", later=-3))
    record(report(later=-2))
    record(report("worker", later=-1))
    person = User.objects.create_user("watcher", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename="view_healthsnapshot"))
    client.force_login(person)
    page = text(client.get(address(HealthSnapshot, "changelist")))
    assert "not well for" in page
    assert "statuschange" not in "".join(ROW.findall(page))


def test_a_hundred_dependencies_cost_no_more_questions(admin_client: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            admin_client.get(address(HealthSnapshot, "changelist"))
        return len(queries)

    record(report(later=-4))
    few = asked()
    found = report(later=-2)
    away = Dependency(DependencyStatus.UNAVAILABLE, error="away")
    many = {f"mcp:{number:03}": away for number in range(100)}
    record(found.with_status(found.status, {**found.dependencies, **many}))
    assert asked() == few < 30
    page = text(admin_client.get(address(HealthSnapshot, "changelist")))
    assert len(rows(page)) == 40
    assert "64 more were well for longer than these" in page


def test_before_the_first_round_the_page_says_so(admin_client: Client) -> None:
    assert "Nothing was measured yet." in text(
        admin_client.get(address(HealthSnapshot, "changelist"))
    )
