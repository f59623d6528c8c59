"""The page of one call: its life on an axis of time, and what is around it."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_client, make_tool
from tests.tools.admin.pages import address, text
from tests.tools.log_rows import NOW, failed, record, running
from tools.admin.request_log.life import life
from tools.admin.request_log.stepping import KEPT
from tools.models import ToolRequest
from tools.models.journal_events import ABANDONED
from tools.selectors.request_log import pages

pytestmark = pytest.mark.django_db


def page(client: Client, call: ToolRequest) -> str:
    answer = client.get(address(ToolRequest, "change", call.pk))
    assert answer.status_code == 200
    return text(answer)


def bars(call: ToolRequest) -> list[tuple[str, str]]:
    return [(bar.name, bar.look) for bar in life(call).bars]


def states(call: ToolRequest) -> list[tuple[str, str]]:
    return [(state.name, state.after) for state in life(call).states]


# What earlier releases wrote: cache, slot and backend in one.
EARLIER = {"validation": 1.5, "rate": 0.5, "backend": 1200.1, "budget": 30.2}
ADMITTED = {"validation": 1.0, "rate": 1.0}


def test_a_call_that_succeeded_went_through_all_stages(admin_client: Client) -> None:
    call = record(
        stages={
            "validation": 1.5,
            "rate": 0.5,
            "cache": 0.6,
            "slot": 1000.1,
            "backend": 200.2,
            "budget": 30.2,
        }
    )
    assert bars(call) == [
        ("Validation", "done"),
        ("Rate limit", "done"),
        ("Cache", "done"),
        ("Wait for a slot", "done"),
        ("Backend", "done"),
        ("Token budget", "done"),
        ("Answer", "done"),
    ]
    shown = page(admin_client, call)
    assert "1,000.1 ms" in shown
    assert "200.2 ms" in shown


def test_a_tool_without_cache_and_limit_has_no_bars_of_them() -> None:
    stages = {**ADMITTED, "cache": 0.0, "slot": 0.0, "backend": 1000.0, "budget": 1.0}
    assert [name for name, _ in bars(record(stages=stages))] == [
        *("Validation", "Rate limit", "Backend", "Token budget", "Answer")
    ]


def test_a_row_of_an_earlier_release_has_its_work_in_one(admin_client: Client) -> None:
    call = record(stages=EARLIER)
    assert bars(call) == [
        ("Validation", "done"),
        ("Rate limit", "done"),
        ("Work", "done"),
        ("Token budget", "done"),
        ("Answer", "done"),
    ]
    assert "the cache is asked, a free slot is waited for, the tool runs" in page(
        admin_client, call
    )
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
        ({**ADMITTED, "cache": 5.0}, "Cache"),
        ({**ADMITTED, "cache": 0.0, "slot": 5000.0}, "Wait for a slot"),
        ({**ADMITTED, "cache": 1.0, "slot": 1.0, "backend": 5.0}, "Backend"),
        ({**ADMITTED, "cache": 1.0, "slot": 1.0, "backend": 5.0, "budget": 0.1}, "Token budget"),
    ],
)
def test_the_stage_that_failed_is_marked(stages: dict[str, float], where: str) -> None:
    assert bars(failed(stages=stages))[-1] == (where, "wrong")


def test_a_call_that_waited_for_another_one_does_not_blame_the_cache(admin_client: Client) -> None:
    shown = page(admin_client, failed(stages={**ADMITTED, "cache": 900.0}))
    assert "it ended while it waited for a call under way that asked the same" in shown
    assert "here it failed" not in shown
    # Of its own it failed after the cache was asked.
    assert "here it failed" in page(
        admin_client, failed(stages={**ADMITTED, "cache": 1.0, "slot": 0.0, "backend": 900.0})
    )


def test_why_a_call_failed_stands_above_its_life(admin_client: Client) -> None:
    client, _ = make_client(name="Chat <i>agent</i>")
    call = failed("TIMEOUT", error="<b>No answer</b> in time", caller=f"client:{client.pk}")
    above = page(admin_client, call).partition("Life of the call")[0]
    ended = above.partition('aria-label="How it ended"')[2]
    assert "TIMEOUT" in ended
    assert "&lt;b&gt;No answer&lt;/b&gt; in time" in ended
    assert f"Chat &lt;i&gt;agent&lt;/i&gt; (client:{client.pk})" in ended
    assert "<b>No" not in above
    succeeded = page(admin_client, record(error="")).partition("Life of the call")[0]
    assert 'class="log-error"' not in succeeded
    assert "address:10.1.2.3" in succeeded.partition('aria-label="How it ended"')[2]


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


@pytest.mark.parametrize("stages", [EARLIER, {**ADMITTED, "cache": 900.0, "budget": 1.0}])
def test_a_hit_says_that_the_cache_answered(admin_client: Client, stages: dict[str, float]) -> None:
    call = record(cache_hit=True, stages=stages)
    assert "the answer came from the cache" in page(admin_client, call)


def test_a_stale_answer_says_that_the_backend_failed(admin_client: Client) -> None:
    stages = {**ADMITTED, "cache": 1.0, "slot": 0.0, "backend": 900.0, "budget": 1.0}
    shown = page(admin_client, record(cache_hit=True, stages=stages))
    assert "it failed, and the last answer in the cache was given" in shown
    assert "the answer came from the cache" not in shown


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


def heading(shown: str) -> list[str]:
    """What the heading of a page says, part by part."""
    found = re.search(r"<h1\b.*?</h1>", shown, re.DOTALL)
    assert found is not None
    return [part.strip() for part in re.findall(r"<a [^>]*tracking-tight[^>]*>([^<]*)<", found[0])]


def test_the_heading_has_the_name_of_the_tool_as_it_is(admin_client: Client) -> None:
    call = record(tool_id="rag_basic")
    shown = page(admin_client, call)
    assert heading(shown) == ["Tools", "Tool requests", f"rag_basic {call.request_id}"]
    tool = make_tool(name="rag_basic")
    shown = text(admin_client.get(address(type(tool), "change", tool.pk)))
    assert heading(shown)[-1] == "rag_basic"


def test_the_newest_call_has_none_after_it(admin_client: Client) -> None:
    shown = page(admin_client, record())
    assert "The call before" not in shown
    assert "The call after" not in shown


def next_page(shown: str, title: str) -> str:
    """Where a link to a neighbour leads; empty without one."""
    found = re.search(rf'<a href="([^"]*)"[^>]*>{title}</a>', shown)
    return html.unescape(found[1]) if found else ""


def stepped(client: Client, filters: str, call: ToolRequest, title: str) -> list[str]:
    """The calls that the link leads to, one after the other, from the page the list leads to."""
    url = f"{address(ToolRequest, 'change', call.pk)}?{urlencode({KEPT: filters})}"
    found: list[str] = []
    while (url := next_page(text(client.get(url)), title)) and url not in found:
        found.append(url)
    return [url.split("/")[4] for url in found]


def test_steps_keep_the_filter_that_the_list_was_left_with(admin_client: Client) -> None:
    made = [
        (failed if number % 3 == 0 else record)(
            tool_id="echo" if number % 2 else "other",
            received_at=NOW + timedelta(seconds=number),
        )
        for number in range(20)
    ]
    filters = "tool__exact=echo&status__in=failure%2Ctimeout"
    meant = [str(call.pk) for call in made if call.tool_id == "echo" and call.code]
    assert len(meant) > 2
    assert stepped(admin_client, filters, made[3], "The call after") == meant[1:]
    assert stepped(admin_client, filters, made[15], "The call before") == meant[:-1][::-1]
    # From a call that the filter would not show, too.
    assert stepped(admin_client, filters, made[0], "The call after") == meant
    assert stepped(admin_client, "", made[17], "The call after") == [
        str(call.pk) for call in made[18:]
    ]


def test_the_page_names_the_filter_and_leads_back_to_its_list(admin_client: Client) -> None:
    call = record(tool_id="echo", received_at=NOW)
    record(tool_id="echo", received_at=NOW + timedelta(seconds=1))
    url = f"{address(ToolRequest, 'change', call.pk)}?{urlencode({KEPT: 'tool__exact=echo'})}"
    shown = text(admin_client.get(next_page(text(admin_client.get(url)), "The call after")))
    assert "among the calls with Tool: <strong>echo</strong>." in shown
    back = re.search(r'<a href="([^"]*)"[^>]*title="Go back"', shown)
    assert back is not None
    assert back[1] == f"{address(ToolRequest, 'changelist')}?tool__exact=echo"


def test_a_neighbour_that_is_far_away_is_looked_for_in_the_list(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (2,))
    meant = record(transport="cli", received_at=NOW - timedelta(seconds=9))
    for number in range(5):
        record(received_at=NOW - timedelta(seconds=number))
    call = record(transport="cli", received_at=NOW + timedelta(seconds=1))
    url = f"{address(ToolRequest, 'change', call.pk)}?{urlencode({KEPT: 'transport__exact=cli'})}"
    shown = text(admin_client.get(url))
    assert not next_page(shown, "The call before")
    assert not next_page(shown, "Look further on")
    monkeypatch.setattr(pages, "PIECES", (1_000,))
    assert str(meant.pk) in text(admin_client.get(next_page(shown, "Look further back")))


@pytest.mark.parametrize(
    "filters",
    [
        "nonsense",
        "status__in=sideways",
        "received_at__gte=yesterday",
        "before=x&tool__exact=echo",
        "duration_ms__gte=1e400",
        "q=%00",
        "text=%ED%A0%80%FF",
        "tool__exact=" + "x" * 300,
        "_changelist_filters=_changelist_filters%3Dx",
        "&&=&%",
        "&".join(f"a{number}=" for number in range(2_000)),
    ],
)
def test_filters_that_make_no_sense_are_as_none(admin_client: Client, filters: str) -> None:
    call = record(received_at=NOW)
    later = record(received_at=NOW + timedelta(seconds=1))
    found = stepped(admin_client, filters, call, "The call after")
    # Nothing has such a text, which is a filter as good as any.
    assert found == ([] if filters.startswith("text") else [str(later.pk)])


def test_a_page_with_a_filter_takes_few_queries(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    call = [record(received_at=NOW + timedelta(seconds=number)) for number in range(9)][4]
    for filters in ("text=nowhere", "transport__exact=cli&q=search_notes&caller__exact=admin:ada"):
        url = f"{address(ToolRequest, 'change', call.pk)}?{urlencode({KEPT: filters})}"
        with django_assert_max_num_queries(30):
            admin_client.get(url)


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
