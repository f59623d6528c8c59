"""The page of the breakers: which services are left alone, and how to end that."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.failing_services import fail
from tests.tools.admin.pages import address, text
from tests.upstream_rows import make_upstream
from tools.conf import deployment
from tools.guards.breaker import CircuitBreakerConfig
from tools.models import UpstreamServer

pytestmark = pytest.mark.django_db

PAGE = "admin:tools_upstreamserver_breakers"


@pytest.fixture
def open_breaker(redis_url: str) -> UpstreamServer:
    """A server whose breaker is open, beside an HTTP API that has failed once."""
    server = make_upstream(slug="todo", failure_threshold=2, recovery_timeout=45)
    make_upstream(slug="quiet")
    make_upstream(slug="off", enabled=False)
    fail(redis_url, "mcp:todo", 2, CircuitBreakerConfig(2, 45.0))
    fail(redis_url, "shop", 1, CircuitBreakerConfig())
    return server


def test_every_breaker_is_shown_with_its_figures(
    admin_client: Client, open_breaker: UpstreamServer
) -> None:
    # S2-043, S2-044, S2-045, S2-046, S2-047, S2-048, S2-049, S2-050
    page = admin_client.get(reverse(PAGE))
    rows = {row["one"].service_name: row for row in page.context["breakers"]}
    assert list(rows) == ["mcp:todo", "mcp:quiet", "shop"]
    todo, shop, quiet = rows["mcp:todo"], rows["shop"], rows["mcp:quiet"]
    assert (todo["one"].state, todo["one"].failure_count) == ("OPEN", 2)
    assert (todo["one"].failure_threshold, todo["one"].recovery_timeout) == (2, 45.0)
    assert todo["next_probe"] == todo["one"].last_state_change + timedelta(seconds=45)
    assert todo["one"].last_failure_time is not None
    assert (shop["one"].state, shop["one"].failure_count) == ("CLOSED", 1)
    assert (quiet["one"].last_failure_time, quiet["called"]) == (None, False)
    shown = " ".join(text(page).split())
    for expected in ("2 of 2", "1 of 5", "45 s", "not called yet", "never"):
        assert expected in shown


def test_open_breaker_makes_the_server_degraded_in_the_list(
    admin_client: Client, open_breaker: UpstreamServer
) -> None:
    shown = text(admin_client.get(address(UpstreamServer, "changelist")))
    assert "OPEN" in shown


def test_reset_closes_a_breaker(admin_client: Client, open_breaker: UpstreamServer) -> None:
    assert "data-confirm=" in text(admin_client.get(reverse(PAGE)))
    page = admin_client.post(reverse(PAGE), {"breaker": "mcp:todo"}, follow=True)
    assert "The breaker of mcp:todo is closed." in text(page)
    states = {row["one"].service_name: row["one"].state for row in page.context["breakers"]}
    assert states["mcp:todo"] == "CLOSED"


def test_page_renews_itself_with_buttons_that_work(
    admin_client: Client, open_breaker: UpstreamServer, redis_url: str
) -> None:
    page = text(admin_client.get(reverse(PAGE)))
    found = re.search(r'data-follow="([^"]+)" data-idle="5000"', page)
    assert found is not None
    assert "follow.js" in page
    fail(redis_url, "mcp:quiet", 3, CircuitBreakerConfig())
    part = text(admin_client.get(found[1]))
    assert "<html" not in part
    assert "3 of " in part
    assert "3 of " not in page
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', part)
    assert token is not None
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = admin_client.cookies
    sent = {"breaker": "mcp:todo", "csrfmiddlewaretoken": token[1]}
    told = text(browser.post(reverse(PAGE), sent, follow=True))
    assert "The breaker of mcp:todo is closed." in told
    assert "CLOSED" in text(admin_client.get(found[1])).partition("todo")[2]


def test_breaker_that_is_not_there_cannot_be_reset(
    admin_client: Client, open_breaker: UpstreamServer
) -> None:
    page = admin_client.post(reverse(PAGE), {"breaker": "nobody"}, follow=True)
    assert "There is no breaker of" in text(page)


def test_who_may_only_look_cannot_reset(client: Client, open_breaker: UpstreamServer) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_upstreamserver"))
    client.force_login(viewer)
    assert "Reset</button>" not in text(client.get(reverse(PAGE)))
    assert client.post(reverse(PAGE), {"breaker": "mcp:todo"}).status_code == 403


def test_without_redis_the_page_says_so(
    admin_client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert "Redis cannot be reached" in text(admin_client.get(reverse(PAGE)))
        page = admin_client.post(reverse(PAGE), {"breaker": "mcp:todo"}, follow=True)
        assert "Nothing was reset." in text(page)
    finally:
        deployment.cache_clear()


def test_open_breaker_is_reset_on_the_page_of_its_server(
    admin_client: Client, open_breaker: UpstreamServer
) -> None:
    here = address(UpstreamServer, "change", open_breaker.pk)
    assert "Reset the breaker" in text(admin_client.get(here))
    sent = {"breaker": "mcp:todo", "server": str(open_breaker.pk)}
    page = admin_client.post(reverse(PAGE), sent, follow=True)
    assert page.redirect_chain[-1][0] == here
    assert "The breaker of mcp:todo is closed." in text(page)
    assert "Reset the breaker" not in text(page)
