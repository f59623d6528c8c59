"""Recent incidents on the dashboard: what was not well, how bad, since when, and whether it still is."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from health import incidents as told
from health.models import StatusChange
from health.record import record
from health.status import DependencyStatus
from tests.health.admin.seen import incidents
from tests.health.reports import report
from tests.tools.admin.pages import text

pytestmark = pytest.mark.django_db

PAGE = "/admin/"
PART = "/admin/health/healthsnapshot/incidents/"
MINUTE, DAY = 60, 24 * 3600


def shown(client: Client) -> list[tuple[str, str]]:
    return incidents(text(client.get(PART)))


def words(client: Client) -> list[str]:
    return [told for told, _ in shown(client)]


def change(name: str, ago: float, before: str, after: str, reason: str = "") -> StatusChange:
    """A dependency's change of some seconds ago."""
    at = datetime.now(UTC) - timedelta(seconds=ago)
    row = {"at": at, "name": name, "before": before, "after": after, "reason": reason}
    return StatusChange.objects.create(subject="dependency", **row)


def outage(name: str, ago: float, lasting: float) -> None:
    change(name, ago, "connected", "unavailable", f"{name} is away")
    change(name, ago - lasting, "unavailable", "connected")


def listed(client: Client, link: str) -> int:
    """How many changes the list behind a link has."""
    answer = client.get(link)
    assert answer.status_code == 200, link
    return int(answer.context["cl"].result_count)


def moment(row: StatusChange) -> str:
    return f"{row.at:%Y-%m-%d %H:%M:%S}"


def first(name: str) -> StatusChange:
    return StatusChange.objects.filter(name=name).earliest("at")


def test_past_outage_is_told_once_with_its_length_and_leads_to_its_beginning(
    admin_client: Client, redis_url: str
) -> None:
    record(report(later=-3600))
    record(report("worker", later=-1800))
    record(report(later=-1800 + 3 * MINUTE))
    service, worker = first("service"), first("worker")
    assert shown(admin_client) == [
        (
            f"over Service degraded for 3 minutes, from {moment(service)}: worker: worker is away",
            reverse("admin:health_statuschange_change", args=[service.pk]),
        ),
        (
            "over Dependency worker unavailable for 3 minutes,"
            f" from {moment(worker)}: worker is away",
            reverse("admin:health_statuschange_change", args=[worker.pk]),
        ),
    ]
    assert incidents(text(admin_client.get(PAGE))) == shown(admin_client)


def test_what_is_not_over_comes_first_with_how_long_it_has_been(
    admin_client: Client, redis_url: str
) -> None:
    record(report(later=-4 * 3600))
    record(report("worker", later=-3 * 3600))
    record(report("worker", "redis", later=-3600))
    record(report("worker", later=-1800))
    assert [line.partition(",")[0] for line in words(admin_client)] == [
        "ongoing Service degraded for 3 hours",
        "ongoing Dependency worker unavailable for 3 hours",
        "over Dependency redis unavailable for 30 minutes",
    ]


def test_incident_is_as_bad_as_its_worst_moment(admin_client: Client, redis_url: str) -> None:
    change("todo", 50 * MINUTE, "connected", "unknown", "no answer in time")
    change("todo", 40 * MINUTE, "unknown", "unavailable", "it refuses")
    change("todo", 30 * MINUTE, "unavailable", "unknown", "no answer again")
    change("todo", 20 * MINUTE, "unknown", "connected")
    (line,) = words(admin_client)
    assert line.startswith("over Dependency todo unavailable for 30 minutes, from ")
    assert line.endswith(": it refuses")


def test_flapping_is_one_incident_that_says_how_often(admin_client: Client, redis_url: str) -> None:
    for ago in range(60, 20, -2):
        outage("todo", ago * MINUTE, MINUTE)
    # Long after: another one.
    outage("todo", 10 * MINUTE, 2 * MINUTE)
    assert [line.partition(", from")[0] for line in words(admin_client)] == [
        "over Dependency todo unavailable for 2 minutes",
        "over Dependency todo unavailable 20 times within 39 minutes",
    ]
    # Of another name, of before and of after: none of it.
    outage("other", 50 * MINUTE, MINUTE)
    outage("todo", 90 * MINUTE, MINUTE)
    (link,) = [link for line, link in shown(admin_client) if "20 times" in line]
    assert listed(admin_client, link) == 2 * 20


def test_flapping_that_is_bad_now_is_ongoing(admin_client: Client, redis_url: str) -> None:
    record(report(later=-10 * MINUTE))
    for ago in range(9, 3, -2):
        record(report("worker", later=-ago * MINUTE))
        record(report(later=-(ago - 1) * MINUTE))
    record(report("worker", later=-MINUTE))
    assert [line.partition(", since")[0] for line in words(admin_client)] == [
        "ongoing Service degraded 4 times within 9 minutes",
        "ongoing Dependency worker unavailable 4 times within 9 minutes",
    ]


def test_incident_that_began_long_ago_is_there_while_it_lasts_and_when_it_is_over(
    admin_client: Client, redis_url: str
) -> None:
    record(report(later=-30 * DAY))
    record(report("worker", later=-20 * DAY - 3600))
    begun = first("worker")
    link = reverse("admin:health_statuschange_change", args=[begun.pk])
    expected = f"Dependency worker unavailable for 20 days, %s {moment(begun)}: worker is away"
    assert (f"ongoing {expected % 'since'}", link) in shown(admin_client)
    # Other changes meanwhile, so that there is something to read.
    outage("todo", 3600, MINUTE)
    assert (f"ongoing {expected % 'since'}", link) in shown(admin_client)
    record(report(later=-1))
    assert [line.partition(" for ")[0] for line in words(admin_client)] == [
        "over Dependency todo unavailable",
        "over Service degraded",
        "over Dependency worker unavailable",
    ]
    record(report("redis", later=0))
    found = dict(shown(admin_client))
    assert found[f"over {expected % 'from'}"] == link


def test_incident_of_before_the_week_is_not_shown(admin_client: Client, redis_url: str) -> None:
    record(report(later=-30 * DAY))
    record(report("worker", later=-20 * DAY - 3600))
    record(report(later=-19 * DAY))
    assert "None in the last seven days." in text(admin_client.get(PART))


def test_what_was_bad_from_the_first_look_has_no_beginning(
    admin_client: Client, redis_url: str
) -> None:
    record(report("worker"))
    assert StatusChange.objects.count() == 0
    service = "ongoing Service degraded for as long as is remembered: worker: worker is away"
    worker = "ongoing Dependency worker unavailable for as long as is remembered: worker is away"
    assert shown(admin_client) == [(service, ""), (worker, "")]


def test_flapping_that_was_bad_from_the_first_look_has_no_length(
    admin_client: Client, redis_url: str
) -> None:
    change("todo", 20 * MINUTE, "unavailable", "connected")
    change("todo", 19 * MINUTE, "connected", "unavailable")
    assert words(admin_client) == [
        "ongoing Dependency todo unavailable 2 times within what is remembered"
    ]
    well = change("todo", 18 * MINUTE, "unavailable", "connected")
    assert words(admin_client) == [f"over Dependency todo unavailable 2 times until {moment(well)}"]


def test_what_is_not_watched_any_more_is_not_ongoing(admin_client: Client, redis_url: str) -> None:
    bad = report("worker", later=-MINUTE)
    record(report(later=-2 * MINUTE))
    record(bad)
    without = {name: one for name, one in bad.dependencies.items() if name != "worker"}
    record(replace(report(), dependencies=without))
    line = f"over Dependency worker unavailable from {moment(first('worker'))}; nobody saw it end"
    assert f"{line}: worker is away" in words(admin_client)
    # It comes back as bad as it was: that is another one.
    record(report("worker", later=1))
    found = [one.partition(", since")[0] for one in words(admin_client) if "worker un" in one]
    assert found[0] == "ongoing Dependency worker unavailable for 0 s"
    assert found[1].startswith("over Dependency worker unavailable from ")


def test_many_changes_are_read_up_to_a_limit_that_is_told(
    admin_client: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "MOST_READ", 20)
    for ago in range(60, 0, -3):
        outage("todo", ago * MINUTE, MINUTE)
    with CaptureQueriesContext(connection) as counted:
        page = text(admin_client.get(PART))
    assert "Only the latest changes were read: those since " in page
    assert incidents(page)[0][0].startswith("over Dependency todo unavailable 10 times within 28")
    assert len(counted) <= 8


def test_only_the_latest_are_shown_with_the_way_to_all(
    admin_client: Client, redis_url: str
) -> None:
    for number in range(11):
        outage(f"mcp:{number}", (20 - number) * 3600, MINUTE)
    page = text(admin_client.get(PART))
    assert [line.split()[2] for line, _ in incidents(page)] == [
        f"mcp:{number}" for number in range(10, 2, -1)
    ]
    outage("of-old", 8 * DAY, MINUTE)
    more = re.search(r'<a href="([^"]+)">And 3 more</a>', page)
    assert more is not None
    assert listed(admin_client, unescape(more[1])) == 2 * 11
    assert reverse("admin:health_statuschange_changelist") in page


def test_status_of_another_release_is_shown_as_it_is(admin_client: Client, redis_url: str) -> None:
    change("todo", 3600, "new", "odd", "who knows")
    change("todo", 1800, "odd", DependencyStatus.CONNECTED.value)
    (line,) = words(admin_client)
    assert line.startswith("over Dependency todo odd until ")


def test_incidents_are_renewed_alone_for_those_who_may_see_them(
    client: Client, admin_client: Client, redis_url: str
) -> None:
    page = text(admin_client.get(PAGE))
    assert f'data-follow="{PART}"' in page
    outage("todo", 3600, MINUTE)
    part = text(admin_client.get(PART))
    assert "<html" not in part
    assert 'data-busy="yes"' in part
    person = User.objects.create_user("somebody", is_staff=True)
    client.force_login(person)
    assert client.get(PART).status_code == 403
    assert PART not in text(client.get(PAGE))
    person.user_permissions.add(Permission.objects.get(codename="view_statuschange"))
    assert [line for line, _ in incidents(text(client.get(PAGE)))] == words(client)
