"""The page that tells what to paste into a client."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.staticfiles import finders
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.factories import make_service, make_toolset
from tests.tools.admin.pages import text
from tools.admin.navigation import sidebar
from tools.services.client_config import CLIENTS

pytestmark = pytest.mark.django_db

PAGE = "/admin/tools/apiclient/connect/"


def shown(client: Client, query: str = "", block: str = "setup-text") -> str:
    """The text that can be copied from the page."""
    response = client.get(PAGE + query)
    assert response.status_code == 200
    found = re.search(rf'<pre id="{block}"[^>]*>(.*?)</pre>', text(response), re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def test_page_is_where_the_side_bar_says_and_marked_there(admin_client: Client) -> None:
    assert reverse("admin:tools_apiclient_connect") == PAGE
    request = RequestFactory().get(PAGE)
    request.user = User.objects.get(username="admin")
    marked = [
        item["title"] for group in sidebar(request) for item in group["items"] if item["active"]
    ]
    assert marked == ["Connect a client"]


def test_first_client_is_shown_with_the_address_the_page_was_reached_at(
    admin_client: Client,
) -> None:
    document = json.loads(shown(admin_client))
    entry = document["mcpServers"]["mcp-control-plane"]
    assert entry == {"type": "http", "url": "http://testserver/mcp"}
    command = shown(admin_client, block="setup-command")
    assert command.startswith("claude mcp add ")


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_has_a_page_that_leads_to_the_others(admin_client: Client, name: str) -> None:
    make_toolset(slug="reports")
    page = text(admin_client.get(f"{PAGE}?client={name}&toolset=reports"))
    assert f"client_config {name}" in page
    for other in CLIENTS:
        assert f'href="?client={other}&amp;toolset=reports"' in page
    assert page.count('aria-current="page"') == 1
    if name == "rest":
        assert "REST has no address for one toolset, so reports is not alone." in page
    else:
        assert "reports" in shown(admin_client, f"?client={name}&toolset=reports")
    # What is reached in one way only offers no choice of it.
    assert ('name="transport"' in page) is (name not in {"rest", "chat"})


def test_toolset_and_transport_are_chosen_without_scripts(admin_client: Client) -> None:
    make_toolset(slug="reports", title="Quarterly reports")
    page = text(admin_client.get(PAGE))
    assert "Quarterly reports (reports)" in page
    query = "?client=cursor&toolset=reports&transport=sse"
    entry = json.loads(shown(admin_client, query))["mcpServers"]["reports"]
    assert entry == {"url": "http://testserver/sse/reports"}


@pytest.mark.parametrize("name", ["rest", "chat"])
def test_what_is_reached_in_one_way_only_is_told_the_key_whatever_was_chosen(
    admin_client: Client, name: str
) -> None:
    make_service(security_api_keys_enabled=True)
    told = shown(admin_client, f"?client={name}&transport=stdio")
    assert told == shown(admin_client, f"?client={name}")
    assert "$CONTROL_PLANE_KEY" in told


def test_key_is_referred_to_where_keys_are_required(admin_client: Client) -> None:
    make_service(security_api_keys_enabled=True)
    entry = json.loads(shown(admin_client))["mcpServers"]["mcp-control-plane"]
    assert entry["headers"] == {"Authorization": "Bearer ${CONTROL_PLANE_KEY:-}"}
    assert reverse("admin:tools_apiclient_add") in text(admin_client.get(PAGE))


def test_choices_that_do_not_exist_are_passed_over(admin_client: Client) -> None:
    query = "?client=none-such&toolset=none-such&transport=carrier-pigeon"
    assert shown(admin_client, query) == shown(admin_client)


def test_texts_are_escaped(admin_client: Client) -> None:
    make_toolset(slug="reports", title="<script>alert(1)</script>")
    assert "<script>alert(1)" not in text(admin_client.get(f"{PAGE}?toolset=reports"))


def test_person_who_may_not_see_clients_may_not_see_the_page(client: Client) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(PAGE).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="view_apiclient"))
    assert client.get(PAGE).status_code == 200


def test_stranger_is_sent_to_the_log_in_page(client: Client) -> None:
    assert client.get(PAGE).headers["Location"].startswith("/admin/login/")


def test_button_that_copies_is_hidden_until_its_script_runs(admin_client: Client) -> None:
    page = text(admin_client.get(PAGE))
    assert re.search(r'<button type="button" data-copy="setup-text" hidden', page)
    source = re.search(r'<script src="/static/([^"]+copy\.js)"', page)
    assert source is not None
    assert finders.find(source[1]) is not None


def test_key_can_be_sent_where_none_is_asked_for(admin_client: Client) -> None:
    make_service(security_api_keys_enabled=False)
    assert "CONTROL_PLANE_KEY" not in shown(admin_client)
    assert "Bearer ${CONTROL_PLANE_KEY:-}" in shown(admin_client, "?key=send")
    stdio = shown(admin_client, "?key=send&client=claude-code&transport=stdio")
    assert json.loads(stdio)["mcpServers"]
