"""Deciding on several offers of MCP servers at once."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.tools.admin.pages import act, address, text
from tests.tools.admin.upstream_offers import served, waiting
from tests.upstream_rows import definition, offers
from tools.models import UpstreamItem
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
