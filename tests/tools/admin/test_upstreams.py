"""MCP servers in the admin: how they are reached, and what follows from changing them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.tools.admin.pages import address, submit, text
from tests.tools.admin.upstream_pages import commands, page_of
from tests.upstream_rows import make_upstream, offers
from tools.models import Tool, UpstreamServer
from tools.services.sync_upstream import record_discovery

__all__ = ["commands"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "commands")]


def test_server_is_added_under_a_slug_with_a_name_of_its_own(admin_client: Client) -> None:
    # S2-003, C13
    add = address(UpstreamServer, "add")
    refused = submit(admin_client, add, slug="", url="https://mcp.example.org/mcp")
    assert "This field is required." in text(refused)
    refused = submit(admin_client, add, slug="Todo Server", url="https://mcp.example.org/mcp")
    assert "Use lower-case letters, digits and hyphens." in text(refused)
    submit(
        admin_client,
        add,
        slug="todo-server",
        display_name="TodoDatabaseServer",
        url="https://mcp.example.org/mcp",
    )
    server = UpstreamServer.objects.get()
    assert (server.slug, str(server)) == ("todo-server", "TodoDatabaseServer")


def test_command_is_one_of_those_the_deployment_allows(admin_client: Client) -> None:
    add = address(UpstreamServer, "add")
    refused = submit(admin_client, add, slug="shell", transport="stdio", command="/bin/sh")
    assert "/bin/sh is not one of the available choices." in text(refused)
    # What another transport would need is left out, not held against the form.
    submit(admin_client, add, slug="notes", transport="stdio", command="notes", url="https://x")
    server = UpstreamServer.objects.get()
    assert (server.command, server.url) == ("notes", "")


def test_command_that_is_no_longer_allowed_is_shown_as_such(admin_client: Client) -> None:
    server = make_upstream(transport="stdio", command="gone", url="")
    assert "gone (no longer allowed, is not started)" in text(admin_client.get(page_of(server)))


@pytest.mark.parametrize(
    "odd", ["not a url", "ftp://mcp.example.org", "https://me:pw@mcp.example.org/mcp"]
)
def test_address_of_odd_shape_is_saved_with_a_warning(admin_client: Client, odd: str) -> None:
    # C11
    server = make_upstream()
    saved = text(submit(admin_client, page_of(server), url=odd))
    server.refresh_from_db()
    assert server.url == odd
    assert "Saved all the same: The address " in saved
    assert "The address " in text(admin_client.get(page_of(server)))


def test_name_stays_once_saved_and_the_prefix_once_tools_have_it(admin_client: Client) -> None:
    server = make_upstream(slug="todo", prefix="a_")
    submit(admin_client, page_of(server), slug="other", prefix="b_")
    server.refresh_from_db()
    assert (server.slug, server.prefix) == ("todo", "b_")
    record_discovery("todo", offers("create"))
    submit(admin_client, page_of(server), prefix="c_")
    server.refresh_from_db()
    assert server.prefix == "b_"


def test_tools_follow_the_time_limit_of_their_server(admin_client: Client) -> None:
    server = make_upstream(slug="todo", call_timeout=5)
    record_discovery("todo", offers("quick", "slow"))
    Tool.objects.filter(name="slow").update(timeout_seconds=40)
    submit(admin_client, page_of(server), call_timeout="9")
    assert dict(Tool.objects.values_list("name", "timeout_seconds")) == {"quick": 9, "slow": 40}


def test_deleting_a_server_takes_its_tools_along(admin_client: Client) -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    deleted = admin_client.post(
        address(UpstreamServer, "delete", server.pk), {"post": "yes"}, follow=True
    )
    assert deleted.status_code == 200
    assert not UpstreamServer.objects.exists()
    assert not Tool.objects.exists()


def test_who_may_only_look_has_no_buttons(client: Client) -> None:
    server = make_upstream(transport="stdio", command="files", url="")
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_upstreamserver"))
    client.force_login(viewer)
    shown = text(client.get(page_of(server)))
    assert "Test connection" not in shown
    # Nor fields that are only for writing, or of another transport.
    for label in ("Forget the stored", "Stored headers", "Address", "one a line"):
        assert label not in shown
    assert "Stored variables" in shown
    for page in ("test", "refresh"):
        assert client.post(address(UpstreamServer, page, server.pk)).status_code == 403
        assert client.get(address(UpstreamServer, page, server.pk)).status_code == 405
