"""The page of the cache: what is in it, and how to empty it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.journal import row_of
from tests.tools.admin.pages import text
from tools.conf import deployment
from tools.models import Tool

PAGE = "admin:tools_tool_cache"


def ask(door: RestDoor, tool: str, number: int) -> None:
    assert door.call(tool, {"n": number}).json()["success"] is True


@pytest.fixture
def filled(door: RestDoor) -> RestDoor:
    """Two tools with three results in the cache, one of them used twice."""
    make_tool(name="sheep", cache_ttl_seconds=600)
    make_tool(name="goats", cache_ttl_seconds=600)
    for tool, number in (("sheep", 1), ("sheep", 2), ("sheep", 2), ("goats", 1)):
        ask(door, tool, number)
    return door


def test_entries_and_what_they_saved_are_shown(filled: RestDoor, admin_client: Client) -> None:
    page = admin_client.get(reverse(PAGE))
    entries = {(one["tool"], one["arguments"]): one for one in page.context["entries"]}
    assert set(entries) == {("sheep", '{"n": 1}'), ("sheep", '{"n": 2}'), ("goats", '{"n": 1}')}
    used = entries["sheep", '{"n": 2}']
    assert (used["hits"], used["bytes"] > 0, 590 <= used["left"] <= 600) == (1, True, True)
    totals = {one["source"]: one for one in page.context["totals"]}
    assert (totals["http_api"]["hits"], totals["http_api"]["rate"]) == (1, "25 %")


def test_arguments_are_shown_whole_and_as_the_log_has_them(
    door: RestDoor, admin_client: Client
) -> None:
    # C12
    make_tool(name="sheep", cache_ttl_seconds=600)
    secret = "sk-0123456789abcdef0123"
    given = {"note": "C# #0123456789abcdef", "password": "hunter2", "deep": [{"say": secret}]}
    row = row_of(door.call("sheep", given).json()["request_id"])
    page = admin_client.get(reverse(PAGE))
    (entry,) = page.context["entries"]
    assert json.loads(entry["arguments"]) == row.parameters
    assert row.parameters["note"] == given["note"]
    assert not [one for one in ("hunter2", secret) if one in text(page)]


def test_whoever_may_not_see_the_log_is_shown_no_arguments(
    filled: RestDoor, client: Client
) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client.force_login(viewer)
    told = "Arguments of calls are not shown to your role"
    page = client.get(reverse(PAGE))
    assert told in text(page)
    assert "&quot;n&quot;" not in text(page)
    assert {one["arguments"] for one in page.context["entries"]} == {""}
    viewer.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    page = client.get(reverse(PAGE))
    assert told not in text(page)
    assert "{&quot;n&quot;: 1}" in text(page)


def test_one_tool_can_be_emptied_and_then_all(filled: RestDoor, admin_client: Client) -> None:
    page = admin_client.post(reverse(PAGE), {"tool": "sheep"}, follow=True)
    assert "2 results of sheep forgotten." in text(page)
    assert [one["tool"] for one in page.context["entries"]] == ["goats"]
    page = admin_client.post(reverse(PAGE), {"all": "1"}, follow=True)
    assert "1 result of all tools forgotten." in text(page)
    assert "Nothing is cached." in text(page)
    assert filled.call("sheep", {"n": 1}).json()["meta"]["cache_hit"] is False


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "press one of the buttons"),
        ({"all": ""}, "press one of the buttons"),
        ({"service": "renamed"}, "there is no HTTP API named &#x27;renamed&#x27; any more"),
        ({"tool": "cows"}, "there is no tool named &#x27;cows&#x27; any more"),
        ({"service": "renamed", "tool": ""}, "there is no HTTP API named"),
    ],
)
def test_what_names_nothing_that_is_there_empties_nothing(
    filled: RestDoor, admin_client: Client, sent: dict[str, str], told: str
) -> None:
    page = admin_client.post(reverse(PAGE), sent, follow=True)
    assert told in text(page)
    assert len(page.context["entries"]) == 3
    assert filled.call("sheep", {"n": 1}).json()["meta"]["cache_hit"] is True


def test_results_of_a_tool_that_was_deleted_can_be_emptied(
    filled: RestDoor, admin_client: Client
) -> None:
    Tool.objects.get(name="sheep").delete()
    page = admin_client.post(reverse(PAGE), {"tool": "sheep"}, follow=True)
    assert "2 results of sheep forgotten." in text(page)


def test_emptying_all_of_it_is_asked_about_first(filled: RestDoor, admin_client: Client) -> None:
    page = text(admin_client.get(reverse(PAGE)))
    asked, between, _ = page.partition('name="all" value="1"')
    assert between
    assert "data-confirm=" in asked.rpartition("<form")[2]
    assert "tools/admin/confirm.js" in page


def test_emptying_a_tool_says_of_all_its_results_and_is_asked_about_first(
    filled: RestDoor, admin_client: Client
) -> None:
    page = text(admin_client.get(reverse(PAGE)))
    for tool, rows in (("sheep", 2), ("goats", 1)):
        assert page.count(f">Empty all of {tool}</button>") == rows
        asked, between, _ = page.partition(f'name="tool" value="{tool}"')
        assert between
        assert f'data-confirm="Forget all results of {tool}' in asked.rpartition("<form")[2]


def test_entries_of_one_tool_are_found_behind_newer_ones_of_others(
    filled: RestDoor, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.admin.cache.MOST_LISTED", 1)

    def listed(**asked: str) -> list[str]:
        page = admin_client.get(reverse(PAGE), asked)
        return [one["tool"] for one in page.context["entries"]]

    assert listed() == ["goats"]
    assert listed(tool="sheep") == ["sheep"]
    assert listed(tool="shee") == []
    assert "Nothing of a tool of this name is cached." in text(
        admin_client.get(reverse(PAGE), {"tool": "\x00*[%<b>"})
    )
    # What is not listed is known all the same.
    Tool.objects.get(name="sheep").delete()
    done = admin_client.post(reverse(PAGE), {"tool": "sheep"}, follow=True)
    assert "2 results of sheep forgotten." in text(done)


def test_who_may_only_look_cannot_empty_it(filled: RestDoor) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client = Client()
    client.force_login(user)
    assert "Empty all of it" not in text(client.get(reverse(PAGE)))
    assert client.post(reverse(PAGE), {"all": "1"}).status_code == 403


@pytest.mark.django_db
def test_without_redis_the_page_says_so(
    admin_client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert "Redis cannot be reached" in text(admin_client.get(reverse(PAGE)))
        emptied = admin_client.post(reverse(PAGE), {"all": "1"}, follow=True)
        assert "Redis cannot be reached" in text(emptied)
    finally:
        deployment.cache_clear()
