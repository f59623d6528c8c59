"""Tools, prompts and resources of MCP servers on the pages of all of them."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.tools.admin.pages import address, submit, text
from tests.tools.admin.upstream_offers import changed, waiting
from tests.upstream_rows import make_upstream, offers
from tools.models import Prompt, Resource, Tool, UpstreamItem, UpstreamServer
from tools.services.sync_upstream import record_discovery

__all__ = ["changed", "waiting"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_tools_list_shows_the_state_of_what_is_held_back(
    admin_client: Client, changed: UpstreamItem, waiting: list[UpstreamItem]
) -> None:
    shown = text(admin_client.get(address(Tool, "changelist")))
    assert "Quarantined: the server has changed it" in shown
    assert shown.count("Waits for approval") == 2
    tool = Tool.objects.get(name="two")
    page = text(admin_client.get(address(Tool, "change", tool.pk)))
    assert "unavailable" in page
    assert address(UpstreamItem, "change", changed.pk) in page


def test_definition_of_a_tool_of_a_server_is_not_written_by_hand(
    admin_client: Client, changed: UpstreamItem
) -> None:
    tool = Tool.objects.get(name="one")
    page = text(admin_client.get(address(Tool, "change", tool.pk)))
    for name in ("description", "input_schema", "source", "handler", "read_only", "dependency"):
        assert f'name="{name}"' not in page
    for name in ("name", "enabled", "cache_ttl_seconds", "timeout_seconds"):
        assert f'name="{name}"' in page


def test_prompts_and_resources_of_a_server_are_only_switched_by_hand(admin_client: Client) -> None:
    make_upstream(slug="library")
    prompt = {"name": "greet", "arguments": [{"name": "who"}]}
    page = {"uri": "docs://one", "name": "one", "mimeType": "text/plain"}
    record_discovery("library", offers("read", prompts=(prompt,), resources=(page,)))
    for model in (Prompt, Resource):
        row = model.objects.get()
        shown = text(admin_client.get(address(model, "change", row.pk)))
        assert 'name="enabled"' in shown
        for name in ("title", "description", "messages", "text", "mime_type"):
            assert f'name="{name}"' not in shown
        submit(admin_client, address(model, "change", row.pk), enabled=None)
        row.refresh_from_db()
        assert row.enabled is False
    UpstreamServer.objects.update(enabled=False)
    listed = text(admin_client.get(address(Prompt, "changelist")))
    assert "The MCP server library is switched off" in listed
