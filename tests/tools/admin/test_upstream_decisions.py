"""Deciding on several offers of MCP servers at once."""

from __future__ import annotations

from random import Random

import pytest
from django.test import Client

from tests.tools.admin.pages import act, address, text
from tests.tools.admin.upstream_offers import served, waiting
from tests.upstream_rows import definition, offers
from tools.models import UpstreamItem
from tools.services.approve_upstream import approve
from tools.services.sync_upstream import record_discovery

__all__ = ["waiting"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_several_are_shown_before_they_are_approved(
    admin_client: Client, waiting: list[UpstreamItem]
) -> None:
    data = {"action": "approve_selected", "_selected_action": [item.pk for item in waiting]}
    page = admin_client.post(address(UpstreamItem, "changelist"), data)
    assert "Approve 2 offers?" in text(page)
    assert "Does what four says it does." in text(page)
    assert served() == set()
    seen = {f"seen_{item.pk}": item.offered_hash for item in waiting}
    assert all(f'name="{name}" value="{value}"' in text(page) for name, value in seen.items())
    # One of them changes while somebody reads.
    record_discovery("new", offers("three", definition("four", description="Another text.")))
    done = admin_client.post(
        address(UpstreamItem, "changelist"), {**data, **seen, "post": "yes"}, follow=True
    )
    assert "1 offer approved." in text(done)
    assert "tool four: The server has said something else" in text(done)
    assert served() == {"three"}


def test_an_offer_that_keeps_the_page_busy_hides_no_other(
    admin_client: Client, waiting: list[UpstreamItem]
) -> None:
    for item in waiting:
        approve(item.pk, "admin", seen=item.offered_hash)
    dice = Random(3)  # noqa: S311 - not for secrets
    muddled = {
        f"a{number}": {"description": "".join(dice.choices(".,", k=900))} for number in range(40)
    }
    reversed_ = {name: {"description": one["description"][::-1]} for name, one in muddled.items()}
    sides = [
        (
            definition("three", inputSchema={"type": "object", "properties": one}),
            definition("four", description=said),
        )
        for one, said in ((muddled, "Reads one file."), (reversed_, "Reads every file."))
    ]
    record_discovery("new", offers(*sides[0]))
    for item in UpstreamItem.objects.filter(server__slug="new"):
        if item.undecided:
            approve(item.pk, "admin", seen=item.offered_hash)
    record_discovery("new", offers(*sides[1]))
    chosen = [item.pk for item in UpstreamItem.objects.filter(server__slug="new")]
    data = {"action": "approve_selected", "_selected_action": chosen}
    page = text(admin_client.post(address(UpstreamItem, "changelist"), data))
    assert "Too long to mark word by word what differs: read both." in page
    assert ">every</ins>" in page


def test_several_cannot_be_approved_unseen(
    admin_client: Client, waiting: list[UpstreamItem]
) -> None:
    page = act(admin_client, UpstreamItem, "approve_selected", *waiting)
    assert "Look at it again." in text(page)
    assert served() == set()


def test_several_can_be_rejected(admin_client: Client, waiting: list[UpstreamItem]) -> None:
    seen = {f"seen_{item.pk}": item.offered_hash for item in waiting}
    data = {"action": "reject_selected", "_selected_action": [item.pk for item in waiting]}
    page = admin_client.post(
        address(UpstreamItem, "changelist"), {**data, **seen, "post": "yes"}, follow=True
    )
    assert "2 offers rejected." in text(page)
    again = admin_client.post(address(UpstreamItem, "changelist"), data, follow=True)
    assert "None of these waits for a decision." in text(again)
