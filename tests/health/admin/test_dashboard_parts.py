"""The parts of the dashboard that renew themselves: what runs now, and the calls of a range."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from health.admin.dashboard.ranges import RANGES
from tests.failing_services import fail
from tests.health.admin.seen import call, tiles
from tests.tools.admin.pages import text
from tests.upstream_rows import make_upstream
from tools.guards.breaker import CircuitBreakerConfig

pytestmark = pytest.mark.django_db

PAGE = "/admin/"
LIVE = "/admin/health/healthsnapshot/live/"
CALLS = "/admin/health/healthsnapshot/calls/"
BREAKERS = "/admin/tools/upstreamserver/breakers/"


def permitted(client: Client, *codenames: str) -> Client:
    """Somebody who may do these things and no others."""
    person = User.objects.create_user("somebody", is_staff=True)
    person.user_permissions.add(*Permission.objects.filter(codename__in=codenames))
    client.force_login(person)
    return client


def test_open_breaker_is_named_with_its_state(admin_client: Client, redis_url: str) -> None:
    make_upstream(slug="todo", failure_threshold=2, recovery_timeout=45)
    make_upstream(slug="quiet")
    fail(redis_url, "mcp:todo", 2, CircuitBreakerConfig(2, 45.0))
    for page in (PAGE, LIVE):
        shown = text(admin_client.get(page))
        assert tiles(shown)["Breakers"] == ("1 not closed", "mcp:todo OPEN", BREAKERS)
        assert 'class="panel tile bad" data-keep="Breakers"' in shown
    assert "mcp:todo" in text(admin_client.get(BREAKERS))


def test_numbers_lead_only_where_the_person_may_go(client: Client, redis_url: str) -> None:
    permitted(client, "view_toolrequest")
    call(tool="echo")
    for page in (PAGE, LIVE, CALLS):
        shown = tiles(text(client.get(page)))
        assert len(shown) >= 5
        for name, (_, _, link) in shown.items():
            assert (link == "") is (name == "Breakers"), name
            assert link == "" or client.get(link).status_code == 200, name


def test_breakers_lead_to_their_page_for_who_may_see_servers(
    client: Client, redis_url: str
) -> None:
    shown = tiles(text(permitted(client, "view_toolrequest", "view_upstreamserver").get(LIVE)))
    assert shown["Breakers"][2] == BREAKERS
    assert client.get(BREAKERS).status_code == 200


def test_calls_are_renewed_alone_over_the_range_of_the_page(
    admin_client: Client, redis_url: str
) -> None:
    page = text(admin_client.get(PAGE, {"range": "6h"}))
    assert f'data-follow="{CALLS}?range=6h" data-every="30000"' in page
    call(tool="echo")
    call(minutes=120, tool="echo")
    part = text(admin_client.get(CALLS, {"range": "6h"}))
    assert 'data-busy="yes"' in part
    assert tiles(part)["Calls"][0] == "2"
    for told in ("<svg", "The charts as a table", "Busiest tools", "Most failing tools"):
        assert told in part
    for elsewhere in ("<html", "Running calls", 'class="ranges"'):
        assert elsewhere not in part
    assert tiles(text(admin_client.get(CALLS, {"range": "1h"})))["Calls"][0] == "1"
    assert tiles(text(admin_client.get(CALLS, {"range": "nonsense"})))["Calls"][0] == "1"


def test_calls_are_renewed_for_those_who_may_see_them(client: Client, redis_url: str) -> None:
    assert client.get(CALLS).status_code == 302
    permitted(client, "view_healthsnapshot", "view_statuschange")
    assert client.get(CALLS).status_code == 403
    assert CALLS not in text(client.get(PAGE))


@pytest.mark.parametrize("name", RANGES)
def test_renewing_the_calls_takes_fewer_queries_than_the_page(
    admin_client: Client, redis_url: str, name: str
) -> None:
    for number in range(20):
        call(tool=f"tool_{number}", minutes=number)
    costs = {}
    for page in (PAGE, CALLS):
        with CaptureQueriesContext(connection) as counted:
            assert admin_client.get(page, {"range": name}).status_code == 200
        costs[page] = len(counted)
    assert costs[CALLS] < costs[PAGE] <= 30
