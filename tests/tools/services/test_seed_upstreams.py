"""The Todo server of the demo: there with its tools after the first start, the operator's after that."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from tests.todo.programs import NAMES
from tests.upstream_rows import make_upstream
from tools.models import Tool, UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue
from tools.services.seed_upstreams import meet_upstreams, seed_upstreams

pytestmark = pytest.mark.django_db


@pytest.fixture
def commands(settings: Settings) -> dict[str, Any]:
    """The allow-list of commands, for a test to change."""
    listed = dict(settings.CONTROL_PLANE["UPSTREAM_COMMANDS"])
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": listed}
    return listed


def registry() -> list[Mapping[str, Any]]:
    """All that is known of the server's tools, but for keys and times."""
    fields = [
        *("name", "title", "description", "input_schema", "output_schema", "tags", "metadata"),
        *("read_only", "destructive", "idempotent", "timeout_seconds", "remote_name"),
    ]
    return list(Tool.objects.filter(source="upstream").order_by("name").values(*fields))


def test_a_first_start_has_the_server_and_its_five_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # F2-02 C13 C10
    assert not load_catalogue().tools
    database = Path(django_settings.VAR_DIR) / "todo.sqlite3"
    database.unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path)
    assert seed_upstreams() == (["MCP server todo"], [])
    assert meet_upstreams() == []
    row = UpstreamServer.objects.get()
    assert (row.slug, row.display_name, row.transport) == ("todo", "TodoDatabaseServer", "stdio")
    assert (row.connect_at_start, row.connect_timeout, row.call_timeout) == (True, 15, 5)
    assert row.last_discovery["counts"]["tools"] == len(NAMES)
    assert row.last_discovery["warnings"] == []
    offered = load_catalogue().tools
    assert set(offered) == set(NAMES)
    assert {tool.timeout_seconds for tool in offered.values()} == {5}
    # Its database is where all state is, wherever the start was.
    assert database.exists()
    assert not list(tmp_path.iterdir())


def test_another_start_changes_nothing_and_starts_no_child() -> None:
    # F2-02
    seed_upstreams()
    meet_upstreams()
    first, asked_at = registry(), UpstreamServer.objects.get().discovered_at
    assert seed_upstreams() == ([], [])
    assert meet_upstreams() == []
    assert registry() == first
    assert UpstreamServer.objects.get().discovered_at == asked_at


def test_what_an_operator_changed_stays() -> None:
    seed_upstreams()
    row = UpstreamServer.objects.get()
    row.enabled, row.call_timeout, row.unavailable_message = False, 9, "Out for lunch."
    row.save()
    assert seed_upstreams() == ([], [])
    assert meet_upstreams() == []
    row.refresh_from_db()
    assert (row.enabled, row.call_timeout, row.unavailable_message) == (False, 9, "Out for lunch.")
    assert not UpstreamItem.objects.exists()


def test_a_server_that_was_deleted_does_not_come_back_where_others_are() -> None:
    make_upstream(slug="ours")
    assert seed_upstreams() == ([], [])
    assert meet_upstreams() == []
    assert [row.slug for row in UpstreamServer.objects.all()] == ["ours"]


def test_a_deployment_that_does_not_allow_the_command_is_told(commands: dict[str, Any]) -> None:
    del commands["todo-server"]
    skipped = ["MCP server todo: UPSTREAM_COMMANDS does not list todo-server"]
    assert seed_upstreams() == ([], skipped)
    assert meet_upstreams() == []
    assert not UpstreamServer.objects.exists()


def test_a_server_that_does_not_start_is_told_and_asked_again(commands: dict[str, Any]) -> None:
    good = commands["todo-server"]
    commands["todo-server"] = {"command": [sys.executable, "-c", "raise SystemExit(3)"]}
    seed_upstreams()
    (told,) = meet_upstreams()
    assert told.startswith("tools of MCP server todo: TodoDatabaseServer cannot be reached")
    assert UpstreamServer.objects.get().last_discovery["ok"] is False
    commands["todo-server"] = good
    assert meet_upstreams() == []
    assert UpstreamItem.objects.count() == len(NAMES)
