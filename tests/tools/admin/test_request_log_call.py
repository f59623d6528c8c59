"""The page of one call: its life on an axis of time, and what is around it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.factories import make_client, make_tool
from tests.tools.admin.pages import address, text
from tests.tools.log_rows import NOW, failed, record, running
from tools.admin.request_log.life import life
from tools.models import ToolRequest
from tools.models.journal_events import ABANDONED

pytestmark = pytest.mark.django_db


def page(client: Client, call: ToolRequest) -> str:
    answer = client.get(address(ToolRequest, "change", call.pk))
    assert answer.status_code == 200
    return text(answer)


def bars(call: ToolRequest) -> list[tuple[str, str]]:
    return [(bar.name, bar.look) for bar in life(call).bars]


def states(call: ToolRequest) -> list[tuple[str, str]]:
    return [(state.name, state.after) for state in life(call).states]


def test_a_call_that_succeeded_went_through_all_stages(admin_client: Client) -> None:
    call = record()
    assert bars(call) == [
        ("Validation", "done"),
        ("Rate limit", "done"),
        ("Work", "done"),
        ("Token budget", "done"),
        ("Answer", "done"),
    ]
    assert states(call) == [
        ("received", "+0.000 ms"),
        ("validating", "+0.000 ms"),
        ("executing", "+2.000 ms"),
        ("completed", "+1,234.5 ms"),
    ]
    shown = page(admin_client, call)
    assert "Life of the call: 1,234.5 ms" in shown
    assert "1,200.1 ms" in shown
    assert "Deadline: 28,765.5 ms after the call ended." in shown


def test_bars_follow_each_other_within_the_axis() -> None:
    found = life(record()).bars
    ends = 0.0
    for bar in found:
        assert float(bar.left) >= ends - 0.5
        ends = float(bar.left) + float(bar.width)
    assert ends <= 100.01


@pytest.mark.parametrize(
    ("stages", "where"),
    [
        ({}, "Validation"),
        ({"validation": 1.0}, "Rate limit"),
        ({"validation": 1.0, "rate": 1.0}, "Work"),
        ({"validation": 1.0, "rate": 1.0, "backend": 5.0}, "Token budget"),
    ],
)
def test_the_stage_that_failed_is_marked(stages: dict[str, float], where: str) -> None:
    assert bars(failed(stages=stages))[-1] == (where, "wrong")


def test_a_deadline_that_passed_is_on_the_axis(admin_client: Client) -> None:
    call = failed("TIMEOUT", duration_ms=30_100.0)
    shown = life(call)
    assert 99 < float(shown.deadline_left) < 100
    assert "100.0 ms before the call ended (the upright line)" in page(admin_client, call)


def test_a_call_that_runs_shows_how_far_it_is(admin_client: Client) -> None:
    received = datetime.now(UTC) - timedelta(seconds=3)
    call = running(received_at=received, deadline_at=received + timedelta(hours=1))
    assert bars(call) == [("Still running", "running")]
    assert states(call) == [("received", "+0.000 ms")]
    assert "Deadline: in " in page(admin_client, call)


def test_a_call_that_nobody_closed_says_so(admin_client: Client) -> None:
    ended = NOW + timedelta(minutes=2)
    call = failed("INTERNAL_ERROR", stages={}, duration_ms=None, finished_at=ended, error=ABANDONED)
    assert bars(call) == [("Nobody closed it", "wrong")]
    assert ABANDONED in page(admin_client, call)


@pytest.mark.parametrize(
    "stages", [[], None, "text", {"validation": "slow", "backend": -1}, {"new": 2.0, "x": True}]
)
def test_stages_of_any_kind_are_survived(admin_client: Client, stages: Any) -> None:
    assert life(ToolRequest(**{**vars_of(record()), "stages": stages})).bars
    assert "Life of the call" in page(admin_client, record(stages=stages or {}))


def vars_of(call: ToolRequest) -> dict[str, Any]:
    return {field.attname: getattr(call, field.attname) for field in call._meta.concrete_fields}


def test_calls_without_length_have_a_life_too() -> None:
    assert life(record(duration_ms=0.0, stages={})).ticks
    assert life(record(duration_ms=86_400_000.0)).ticks


def test_a_hit_says_that_the_cache_answered(admin_client: Client) -> None:
    assert "the answer came from the cache" in page(admin_client, record(cache_hit=True))


def test_the_page_leads_to_what_is_around(admin_client: Client) -> None:
    tool = make_tool(name="search_notes")
    client, _ = make_client(name="Chat agent")
    earlier = record(received_at=NOW - timedelta(seconds=1))
    call = record(caller=f"client:{client.pk}", correlation_id="trace 7&8", thread_id="t/1")
    later = record(received_at=NOW + timedelta(seconds=1))
    shown = page(admin_client, call)
    for url in (
        address(ToolRequest, "change", earlier.pk),
        address(ToolRequest, "change", later.pk),
        address(type(tool), "change", tool.pk),
        address(type(client), "change", client.pk),
        "?correlation_id__exact=trace+7%268",
        "?thread_id__exact=t%2F1",
        f"?q={call.request_id}",
    ):
        assert url in shown
    for url in re.findall(r'<li><a href="(/admin/[^"]*)"', shown):
        assert admin_client.get(url.replace("&amp;", "&")).status_code == 200


def test_the_newest_call_has_none_after_it(admin_client: Client) -> None:
    shown = page(admin_client, record())
    assert "The call before" not in shown
    assert "The call after" not in shown


def test_who_may_not_see_tools_and_clients_gets_no_links_to_them(client: Client) -> None:
    make_tool(name="search_notes")
    api_client, _ = make_client(name="Chat agent")
    person = User.objects.create_user("somebody", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    client.force_login(person)
    shown = page(client, record(caller=f"client:{api_client.pk}"))
    assert "Tool search_notes" not in shown
    assert "Client Chat agent" not in shown


@pytest.mark.parametrize("caller", ["client:", "client:x", "client:99999999999999999999", ""])
def test_odd_callers_have_a_page(admin_client: Client, caller: str) -> None:
    assert "Around this call" in page(admin_client, record(caller=caller, tool_id=""))
