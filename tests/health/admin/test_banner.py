"""The notice on every page of the admin while the service is not well."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from health.models import CurrentHealth
from health.record import record
from tests.health.reports import report

pytestmark = pytest.mark.django_db


def notices(client: Client, page: str = "/admin/tools/tool/") -> list[str]:
    """The notices of a page, as text."""
    shown = client.get(page).content.decode()
    found = re.findall(r"data-health-notice=.*?</div>", shown, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>|^[^>]*>", " ", one).split()) for one in found]


PAGES = (
    "/admin/auth/user/",
    "/admin/tools/tool/",
    "/admin/tools/tool/add/",
    "/admin/password_change/",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_one_notice_while_the_service_is_not_well(
    admin_client: Client, page: str
) -> None:
    # S0-014
    record(report("worker"))
    (shown,) = notices(admin_client, page)
    assert shown.startswith("The service is degraded. worker: worker is away. Measured ")
    assert reverse("admin:health_healthsnapshot_now") in admin_client.get(page).content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_no_page_shows_one_while_it_is_well_or_nobody_has_measured(
    admin_client: Client, page: str
) -> None:
    assert notices(admin_client, page) == []
    record(report())
    assert notices(admin_client, page) == []


def test_report_that_is_too_old_is_not_believed(admin_client: Client) -> None:
    # S0-079
    record(report(later=-300))
    (shown,) = notices(admin_client)
    assert shown.startswith(
        "Health is not known: the service was healthy 5 minutes ago, and nobody has measured since."
    )


def test_many_reasons_are_counted_not_listed(admin_client: Client) -> None:
    report_ = report("worker").to_json()
    report_["dependencies"] |= {
        f"mcp:{number}": {"status": "unavailable", "error": "gone"} for number in range(7)
    }
    CurrentHealth.objects.create(pk=1, checked_at=datetime.now(UTC), report=report_)
    (shown,) = notices(admin_client)
    # Which come first is the database's choice.
    assert len(shown.split("; ")) == 5
    assert "; and 4 more." in shown


def test_report_of_another_release_shows_none(admin_client: Client) -> None:
    CurrentHealth.objects.create(pk=1, checked_at=datetime.now(UTC), report={"status": "odd"})
    assert notices(admin_client) == []


def test_it_costs_one_row_by_its_key(admin_client: Client) -> None:
    record(report("worker"))
    with CaptureQueriesContext(connection) as queries:
        admin_client.get("/admin/tools/tool/")
    mine = [one["sql"] for one in queries if "health_" in one["sql"]]
    assert len(mine) == 1
    assert "health_currenthealth" in mine[0]


def test_who_may_not_see_health_gets_the_notice_without_the_link(client: Client) -> None:
    client.force_login(User.objects.create_user("helper", is_staff=True))
    record(report("worker"))
    (shown,) = notices(client, "/admin/")
    assert "The service is degraded." in shown
    assert "See health now" not in shown


@pytest.mark.parametrize("page", ["health_healthsnapshot_now", "index"])
def test_pages_of_health_itself_say_it_once(
    admin_client: Client, redis_url: str, page: str
) -> None:
    record(report("worker"))
    assert notices(admin_client, reverse(f"admin:{page}")) == []


def test_log_in_page_shows_none(client: Client) -> None:
    record(report("worker"))
    with CaptureQueriesContext(connection) as queries:
        assert notices(client, "/admin/login/") == []
    assert not [one for one in queries if "health_" in one["sql"]]
