"""The list of MCP servers in the admin."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.tools.admin.pages import address, text
from tests.tools.admin.upstream_pages import page_of
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import UpstreamServer
from tools.services.sync_upstream import record_discovery, record_failure

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_list_shows_tools_served_waiting_and_quarantined(admin_client: Client) -> None:
    # C14
    make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    UpstreamServer.objects.update(new_items="wait")
    record_discovery("todo", offers("one", definition("two", description="Another."), "three"))
    shown = text(admin_client.get(address(UpstreamServer, "changelist")))
    assert "1 served" in shown
    assert "1 waiting" in shown
    assert "1 quarantined" in shown
    assert "not connected yet" in shown


def test_list_shows_what_the_last_discovery_came_to(admin_client: Client) -> None:
    make_upstream(slug="empty")
    make_upstream(slug="away")
    make_upstream(slug="new")
    record_discovery("empty", offers())
    record_failure("away", "Its door is closed")
    shown = text(admin_client.get(address(UpstreamServer, "changelist")))
    assert "No MCP tools available" in shown
    assert "Its door is closed" in shown
    assert "never" in shown
    page = text(admin_client.get(page_of(UpstreamServer.objects.get(slug="empty"))))
    assert "No MCP tools available" in page
