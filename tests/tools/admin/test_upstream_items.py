"""What MCP servers offer, in the admin: what waits is shown with its differences and decided on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.tools.admin.pages import act, address, text
from tests.tools.admin.upstream_offers import CHANGED, changed, served, waiting
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import ItemState, Tool, UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue
from tools.services.sync_upstream import record_discovery

__all__ = ["changed", "waiting"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def decide(client: Client, item: UpstreamItem, decision: str, seen: str | None = None) -> Any:
    url = address(UpstreamItem, "decide", item.pk)
    hashed = item.offered_hash if seen is None else seen
    return client.post(url, {"decision": decision, "seen": hashed}, follow=True)


def test_page_shows_what_was_approved_beside_what_is_offered(
    admin_client: Client, changed: UpstreamItem
) -> None:
    shown = text(admin_client.get(address(UpstreamItem, "change", changed.pk)))
    assert "It was changed since it was approved" in shown
    assert "Does what two says it does." in shown
    assert "<ins" in shown
    # Hidden characters are made visible, and named.
    assert "\u200b" not in shown
    assert "\u2423U+200B</mark>" in shown
    assert "U+200B zero width space" in shown
    assert "Reads like an instruction to a model" in shown


def test_quarantined_tool_is_not_served_until_it_is_approved(
    admin_client: Client, changed: UpstreamItem
) -> None:
    assert served() == {"one"}
    page = decide(admin_client, changed, "approve")
    assert "tool two approved." in text(page)
    assert served() == {"one", "two"}
    assert load_catalogue().tools["two"].description == CHANGED
    changed.refresh_from_db()
    assert (changed.decided_by, changed.state) == ("admin", ItemState.APPROVED)


def test_rejected_definition_stays_out_and_is_not_asked_about_again(
    admin_client: Client, changed: UpstreamItem
) -> None:
    assert "tool two rejected." in text(decide(admin_client, changed, "reject"))
    assert served() == {"one"}
    listed = address(UpstreamItem, "changelist")
    assert "quarantined, rejected" in text(admin_client.get(listed))
    assert admin_client.get(listed, {"decision": "open"}).context["cl"].result_count == 0
    assert admin_client.get(listed, {"decision": "rejected"}).context["cl"].result_count == 1
    # Whoever thinks better of it can still approve it.
    decide(admin_client, changed, "approve")
    assert served() == {"one", "two"}


@pytest.mark.parametrize("word", ["", "Approve", "approved", "no"])
def test_another_word_than_approve_or_reject_decides_nothing(
    admin_client: Client, changed: UpstreamItem, word: str
) -> None:
    page = decide(admin_client, changed, word)
    assert "Nothing was decided" in text(page)
    seen = (changed.state, changed.rejected_hash, changed.decided_by)
    changed.refresh_from_db()
    assert (changed.state, changed.rejected_hash, changed.decided_by) == seen
    assert served() == {"one"}


def test_approval_is_refused_when_the_server_has_said_something_else_since(
    admin_client: Client, changed: UpstreamItem
) -> None:
    record_discovery("todo", offers("one", definition("two", description="Yet another text.")))
    page = decide(admin_client, changed, "approve")
    assert "The server has said something else since this page was shown" in text(page)
    assert served() == {"one"}
    assert "something else since" in text(decide(admin_client, changed, "reject"))
    assert "something else since" in text(decide(admin_client, changed, "approve", seen=""))


def test_what_waits_comes_first_and_can_be_filtered(
    admin_client: Client, changed: UpstreamItem
) -> None:
    make_upstream(slug="a-first")
    record_discovery("a-first", offers("alpha"))
    listed = admin_client.get(address(UpstreamItem, "changelist"))
    assert [item.remote_name for item in listed.context["cl"].result_list] == [
        "two",
        "alpha",
        "one",
    ]
    server = UpstreamServer.objects.get(slug="todo")
    for query, expected in (
        ({"server__id__exact": server.pk}, {"one", "two"}),
        ({"state__exact": "changed"}, {"two"}),
        ({"kind__exact": "prompt"}, set()),
        ({"decision": "flagged"}, {"two"}),
    ):
        found = admin_client.get(address(UpstreamItem, "changelist"), query).context["cl"]
        assert {item.remote_name for item in found.result_list} == expected


def test_who_may_only_look_cannot_decide(client: Client, changed: UpstreamItem) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_upstreamitem"))
    client.force_login(viewer)
    shown = text(client.get(address(UpstreamItem, "change", changed.pk)))
    assert "It was changed since it was approved" in shown
    assert "Approve</button>" not in shown
    assert decide(client, changed, "approve").status_code == 403
    assert client.get(address(UpstreamItem, "decide", changed.pk)).status_code == 405
    assert served() == {"one"}


def remover(*kinds: str) -> Client:
    """Somebody who looks at offers and servers, and deletes rows of these kinds."""
    user = User.objects.create_user("remover", is_staff=True)
    codenames = ["view_upstreamitem", "view_upstreamserver", *(f"delete_{one}" for one in kinds)]
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


def test_offer_with_a_tool_is_deleted_by_who_may_delete_tools(changed: UpstreamItem) -> None:
    page = address(UpstreamItem, "delete", changed.pk)
    client = remover("upstreamitem", "upstreamserver")
    assert client.post(page, {"post": "yes"}).status_code == 403
    # Nor by way of its server, alone or among several.
    server = address(UpstreamServer, "delete", changed.server_id)
    assert client.post(server, {"post": "yes"}).status_code == 403
    several = act(client, UpstreamServer, "delete_selected", changed.server)
    assert several.status_code == 403
    assert set(Tool.objects.values_list("name", flat=True)) == {"one", "two"}
    user = User.objects.get()
    user.user_permissions.add(Permission.objects.get(codename="delete_tool"))
    client.post(page, {"post": "yes"})
    assert set(Tool.objects.values_list("name", flat=True)) == {"one"}


def test_offer_that_stands_for_nothing_is_deleted_without_that(waiting: list[UpstreamItem]) -> None:
    item = UpstreamItem(server=waiting[0].server, kind="tool", remote_name="odd", state="waiting")
    item.save()
    remover("upstreamitem").post(address(UpstreamItem, "delete", item.pk), {"post": "yes"})
    assert not UpstreamItem.objects.filter(pk=item.pk).exists()


def test_deleted_offer_takes_its_tool_along_and_is_found_anew(
    admin_client: Client, changed: UpstreamItem
) -> None:
    admin_client.post(address(UpstreamItem, "delete", changed.pk), {"post": "yes"})
    assert not Tool.objects.filter(name="two").exists()
    record_discovery("todo", offers("one", "two"))
    assert served() == {"one", "two"}
