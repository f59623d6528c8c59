"""The list of the request log: filters, places, faults, and what a page costs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from tests.factories import make_client, make_tool
from tests.tools.admin.pages import address, text
from tests.tools.log_rows import NOW, failed, record, row, running
from tools.admin.request_log import addresses
from tools.models import ToolRequest
from tools.selectors.request_log import pages

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far is looked is a matter of pieces here, not of the pace of the machine."""
    monkeypatch.setattr(pages, "LONGEST_SECONDS", 600.0)


LIST = "/admin/tools/toolrequest/"
MOST_QUERIES = 30


def shown(client: Client, **query: Any) -> list[str]:
    """The tools of the calls that are listed."""
    answer = client.get(LIST, query)
    assert answer.status_code == 200
    return re.findall(r'data-label="Tool"><a [^>]*>([^<]*)<', text(answer))


def link(client: Client, word: str, **query: Any) -> str:
    """Where a link of the list leads."""
    found = re.search(rf'<a href="([^"]*)"[^>]*>{word}</a>', text(client.get(LIST, query)))
    assert found is not None, word
    return unescape(found.group(1))


def many(count: int) -> None:
    ToolRequest.objects.bulk_create(
        row(tool_id=f"tool_{place:03}", received_at=NOW + timedelta(seconds=place))
        for place in range(count)
    )


def test_pages_go_back_and_forth_and_to_a_time(admin_client: Client) -> None:
    many(120)
    names = [f"tool_{place:03}" for place in reversed(range(120))]
    assert shown(admin_client) == names[:50]
    second = link(admin_client, "Older")
    page = text(admin_client.get(LIST + second))
    assert re.findall(r'data-label="Tool"><a [^>]*>([^<]*)<', page) == names[50:100]
    newer = re.search(r'<a href="([^"]*)" rel="prev">Newer</a>', page)
    assert newer is not None
    page = text(admin_client.get(LIST + unescape(newer.group(1))))
    assert re.findall(r'data-label="Tool"><a [^>]*>([^<]*)<', page) == names[:50]
    moment = f"{NOW + timedelta(seconds=10):%Y-%m-%dT%H:%M:%S}"
    assert shown(admin_client, before=moment) == names[110:]
    assert link(admin_client, "Newest", before=moment) == "?"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_the_zone_of_times_is_named_on_pages_and_at_filters(
    admin_client: Client, settings: Settings, zone: str
) -> None:
    settings.TIME_ZONE = zone
    call = record()
    page = text(admin_client.get(LIST, {"received_at__gte": "2026-03-01T00:00"}))
    for label in ("From", "Until before", "Calls before"):
        assert f">{label} ({zone})</label>" in page
    assert f"From ({zone}): 2026-03-01 00:00:00" in page
    found = [LIST, address(ToolRequest, "change", call.pk), reverse("admin:index")]
    for url in (*found, reverse("admin:tools_auditentry_changelist")):
        assert f">Times are in {zone}</p>" in text(admin_client.get(url))


def test_paging_keeps_the_filters(admin_client: Client) -> None:
    for _ in range(52):
        record(tool_id="wanted")
    record(tool_id="other")
    older = link(admin_client, "Older", tool__exact="wanted", status__in="success")
    assert "tool__exact=wanted" in older
    assert "status__in=success" in older
    page = text(admin_client.get(LIST + older))
    assert re.findall(r'data-label="Tool"><a [^>]*>([^<]*)<', page) == ["wanted"] * 2


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"tool__exact": "a"}, {"a"}),
        ({"tool": "a"}, {"a"}),
        ({"caller__exact": "Chat agent"}, {"a"}),
        ({"caller__exact": "admin:root"}, {"b"}),
        ({"status__in": "failure,timeout"}, {"b", "c"}),
        ({"status__exact": "timeout"}, {"c"}),
        ({"code__exact": "TIMEOUT"}, {"c"}),
        ({"state__exact": "received"}, {"d"}),
        ({"finished_at__isnull": "True"}, {"d"}),
        ({"transport__exact": "cli"}, {"b"}),
        ({"source": "pipeline"}, {"a"}),
        ({"cache_hit__exact": "1"}, {"a"}),
        ({"cache_hit__exact": "0"}, {"b"}),
        ({"cache": "none"}, {"c", "d"}),
        ({"cache_hit__isnull": "True"}, {"c", "d"}),
        ({"tokens_after__isnull": "False"}, {"a", "b"}),
        ({"shortened": "True"}, {"a"}),
        ({"duration_ms__gte": "1000"}, {"c"}),
        ({"duration_ms__gte": "2", "duration_ms__lte": "30"}, {"a", "b"}),
        ({"text": "SHEEP"}, {"a"}),
        ({"text": "went wrong"}, {"b"}),
        ({"text": "100%"}, {"b"}),
        ({"text": "s_eep"}, set()),
        ({"q": "trace-1"}, {"a"}),
        ({"q": "Chat"}, {"a"}),
        ({"q": "trace-1", "tool__exact": "b"}, set()),
        ({"correlation_id__exact": "trace-1"}, {"a"}),
        ({"thread_id__exact": "thread-1"}, {"b"}),
        ({"received_at__gte": "2026-03-01T12:31:00Z"}, {"c"}),
        ({"received_at__lt": "2026-03-01T12:31", "tool": "c"}, set()),
        ({"within": "24h"}, set()),
        ({"tool__exact": "b", "status__in": "failure", "transport__exact": "cli"}, {"b"}),
    ],
    ids=str,
)
def test_each_filter_leaves_what_it_is_about(
    admin_client: Client, query: dict[str, str], found: set[str]
) -> None:
    client, _ = make_client(name="Chat agent")
    record(
        tool_id="a",
        caller=f"client:{client.pk}",
        source="pipeline",
        cache_hit=True,
        tokens_before=9,
        tokens_after=3,
        duration_ms=20.0,
        query_text="Where do sheep go?",
        correlation_id="trace-1",
    )
    failed(
        tool_id="b",
        caller="admin:root",
        transport="cli",
        cache_hit=False,
        tokens_before=9,
        tokens_after=9,
        duration_ms=2.0,
        error="It went wrong by 100%",
        thread_id="thread-1",
    )
    failed("TIMEOUT", tool_id="c", duration_ms=30_000.0, received_at=NOW + timedelta(minutes=1))
    running(tool_id="d")
    assert set(shown(admin_client, **query)) == found


def test_why_calls_failed_stands_in_the_list(admin_client: Client) -> None:
    record(error="")
    failed("TIMEOUT", error="<i>Nobody</i> answered", received_at=NOW + timedelta(seconds=1))
    failed("EXECUTION_ERROR", error="x" * 5_000, received_at=NOW + timedelta(seconds=2))
    page = text(admin_client.get(LIST))
    assert re.findall(r'data-label="Code"[^>]*>(.*?)</td>', page) == [
        f'<a href="?code__exact=EXECUTION_ERROR">EXECUTION_ERROR</a><small>{"x" * 119}…</small>',
        '<a href="?code__exact=TIMEOUT">TIMEOUT</a>'
        "<small>&lt;i&gt;Nobody&lt;/i&gt; answered</small>",
        "-",
    ]


def test_what_stands_in_a_row_narrows_the_list_to_it(admin_client: Client) -> None:
    client, _ = make_client(name="Chat agent")
    meant = {"tool_id": "a & <b>", "caller": f"client:{client.pk}", "transport": "cli"}
    failed("TIMEOUT", **meant)
    # Each differs in one thing.
    failed("EXECUTION_ERROR", **meant)
    for name, value in (("tool_id", "b"), ("caller", "admin:root"), ("transport", "rest")):
        failed("TIMEOUT", **{**meant, name: value})
    # Left out by the filter that is set.
    failed("TIMEOUT", **meant, duration_ms=1.0)
    page = text(admin_client.get(LIST, {"duration_ms__gte": "2"}))
    all_of_it = ("a &amp; ", f"client:{client.pk})", ">TIMEOUT<", ">cli<")
    rows = page.partition("<tbody>")[2].split("</tr>")
    (row,) = [one for one in rows if all(part in one for part in all_of_it)]
    for cell in ("Tool", "Code", "Caller", "Transport"):
        found = re.search(rf'data-label="{cell}"[^>]*><a href="([^"]*)"', row)
        assert found is not None, cell
        assert "duration_ms__gte=2&" in unescape(found[1])
        answer = admin_client.get(LIST + unescape(found[1]))
        assert len(answer.context["cl"].lines) == 4, cell


def test_newest_page_renews_itself_when_asked_to(admin_client: Client) -> None:
    for second in range(51):
        record(tool_id="echo", received_at=NOW + timedelta(seconds=second))
    query = {"tool__exact": "echo"}
    assert "data-follow" not in text(admin_client.get(LIST, query))
    switched_on = link(admin_client, "Renew every 5 seconds", **query)
    page = text(admin_client.get(LIST + switched_on))
    assert "follow.js" in page
    found = re.search(r'data-follow="([^"]+)" data-idle="5000"', page)
    assert found is not None
    late = record(tool_id="echo", received_at=NOW + timedelta(minutes=5))
    record(tool_id="other", received_at=NOW + timedelta(minutes=6))
    part = text(admin_client.get(LIST + unescape(found[1])))
    assert "<html" not in part
    assert "<strong>52 calls</strong>" in part
    assert part.count('data-label="Tool"') == 50
    assert f"{late.received_at:%H:%M:%S}" in part
    # From the page of a call one comes back to the list, not to its part.
    assert "part" not in re.findall(rf'href="[^"]*{late.pk}[^"]*"', part)[0]
    # On from what is shown now, not from what was shown first.
    older = re.search(r'<a href="([^"]*)" rel="next">Older</a>', part)
    assert older is not None
    assert shown(admin_client, **QueryDict(unescape(older[1])[1:]).dict()) == ["echo"] * 2
    assert page.count('rel="next"') == 1
    stopped = link(admin_client, "Stop renewing", **query, renew="1")
    assert "data-follow" not in text(admin_client.get(LIST + stopped))
    # What is past does not change.
    past = text(admin_client.get(LIST, {"before": "2026-03-01T12:31", "renew": "1"}))
    assert "data-follow" not in past
    assert "Renew every" not in past


def test_rows_that_no_filter_finds_have_no_links_to_one(admin_client: Client) -> None:
    record(tool_id="", caller="", transport="rest")
    failed("OF_ANOTHER_RELEASE", tool_id="", caller="", transport="pigeon")
    # The filter takes the space away, and would find calls of another name.
    spaced = failed("OF_ANOTHER_RELEASE", tool_id="echo ", caller="", transport="pigeon")
    page = text(admin_client.get(LIST)).partition("<tbody>")[2].partition("</tbody>")[0]
    assert re.findall(r'href="(\?[^"]*)"', page) == ["?transport__exact=rest"]
    assert "Calls of" not in text(admin_client.get(address(ToolRequest, "change", spaced.pk)))


def test_list_of_one_tool_leads_to_its_page_for_those_who_may_see_it(
    client: Client, admin_client: Client
) -> None:
    tool = make_tool(name="echo")
    there = f'<a href="{address(type(tool), "change", tool.pk)}">The page of echo</a>'
    assert there in text(admin_client.get(LIST, {"tool__exact": "echo"}))
    assert "The page of" not in text(admin_client.get(LIST, {"tool__exact": "gone"}))
    assert "The page of" not in text(admin_client.get(LIST))
    person = User.objects.create_user("somebody", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    client.force_login(person)
    assert "The page of" not in text(client.get(LIST, {"tool__exact": "echo"}))


def test_the_last_minutes_are_those_before_now(admin_client: Client) -> None:
    record(tool_id="now", received_at=datetime.now(UTC))
    record(tool_id="then", received_at=datetime.now(UTC) - timedelta(minutes=20))
    assert shown(admin_client, within="15m") == ["now"]
    assert shown(admin_client, within="1h") == ["now", "then"]


@pytest.mark.parametrize(
    "query",
    [
        {"received_at__gte": "yesterday"},
        {"received_at__lt": "0001-01-01T00:00:00+14:00"},
        {"received_at__gte": "2026-03-02", "received_at__lt": "2026-03-01"},
        {"before": "here"},
        {"after": "2026-03-01T00:00:00Z_no-uuid"},
        {"duration_ms__gte": "-1"},
        {"duration_ms__lte": "long"},
        {"duration_ms__gte": "nan"},
        {"code__exact": "NO_SUCH_CODE"},
        {"status__in": "perhaps"},
        {"within": "1y"},
        {"cache": "maybe"},
        {"text": "x" * 10_000},
        {"text": "a\x00b"},
        {"no_such_filter": "1"},
        {"tool__name__startswith": "a"},
    ],
    ids=str,
)
def test_a_filter_that_makes_no_sense_is_told_and_shows_nothing(
    admin_client: Client, query: dict[str, str]
) -> None:
    record()
    answer = admin_client.get(LIST, query)
    assert answer.status_code == 200
    assert 'class="log-error"' in text(answer)
    assert 'id="result_list"' not in text(answer)


def test_odd_terms_find_nothing_and_break_nothing(admin_client: Client) -> None:
    record()
    for term in ("\x00", "%", "'; --", "Ünïcödé 🐑", "x" * 200, "client:99999999999999999999"):
        for name in ("q", "tool__exact", "caller__exact", "text"):
            assert admin_client.get(LIST, {name: term}).status_code == 200


def test_what_was_typed_comes_back_escaped(admin_client: Client) -> None:
    page = text(admin_client.get(LIST, {"text": '"><script>alert(1)</script>'}))
    assert "<script>alert(1)" not in page
    assert "&quot;&gt;&lt;script&gt;" in page


def test_each_filter_can_be_taken_away(admin_client: Client) -> None:
    page = text(admin_client.get(LIST, {"tool__exact": "a", "code__exact": "TIMEOUT"}))
    found = re.search(r'<a href="([^"]*)" aria-label="Remove the filter Tool">', page)
    assert found is not None
    assert found.group(1) == "?code__exact=TIMEOUT"


def test_the_page_tells_how_far_it_looked(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (2, 3))
    many(8)
    record(tool_id="oldest", transport="cli", received_at=NOW - timedelta(hours=1))
    page = text(admin_client.get(LIST, {"transport__exact": "cli"}))
    assert "5 calls were looked through, back to 2026-03-01 12:30:18" in page
    assert "No call yet" in page
    further = link(admin_client, "Look further back", transport__exact="cli")
    assert "oldest" in text(admin_client.get(LIST + further))


def test_a_search_that_was_given_up_goes_on_in_steps(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PIECES", (2, 3))
    many(12)
    record(tool_id="oldest", transport="cli", received_at=NOW - timedelta(hours=1))
    page = text(admin_client.get(LIST, {"transport__exact": "cli"}))
    assert "search_on.js" in page
    following = re.search(r'data-search="([^"]+)"', page)
    steps = []
    while following is not None and following.group(1):
        part = text(admin_client.get(LIST + unescape(following.group(1))))
        assert "<html" not in part
        found = re.findall(r'data-label="Tool"><a [^>]*>([^<]*)<', part)
        steps.append((re.findall(r'data-looked="(\d+)"', part), found))
        following = re.search(r'data-next="([^"]*)"', part)
    assert steps == [(["5"], []), (["0"], ["oldest"])]
    # What is whole needs no steps, nor does the way to later calls.
    for query in ({}, {"transport__exact": "cli", "after": f"{NOW - timedelta(days=1):%Y-%m-%d}"}):
        assert "data-search" not in text(admin_client.get(LIST, query))


def test_a_page_makes_as_many_queries_for_many_calls_as_for_few(admin_client: Client) -> None:
    make_tool(name="search_notes")
    client, _ = make_client(name="Chat agent")
    queries: dict[int, list[int]] = {}
    asked: list[dict[str, str]] = [
        {},
        {"tool__exact": "search_notes"},
        {"transport__exact": "rest", "source": "http_api"},
        {"status__in": "success", "text": "when"},
        {"q": "Chat"},
        {"caller__exact": "Chat agent"},
        {"transport__exact": "cli", "duration_ms__lte": "1"},
    ]
    for length in (60, 500):
        made = length - ToolRequest.objects.count()
        ToolRequest.objects.bulk_create(row(caller=f"client:{client.pk}") for _ in range(made))
        # What is asked once and remembered does not count.
        admin_client.get(addresses.one(row_key()))
        queries[length] = [_queries(admin_client, LIST, query) for query in asked]
        queries[length].append(_queries(admin_client, addresses.one(row_key())))
    assert queries[60] == queries[500]
    assert max(queries[500]) <= MOST_QUERIES


def row_key() -> Any:
    return ToolRequest.objects.order_by("-received_at", "-pk").values_list("pk", flat=True)[30]


def _queries(client: Client, url: str, query: dict[str, str] | None = None) -> int:
    with CaptureQueriesContext(connection) as made:
        assert client.get(url, query or {}).status_code == 200
    return len(made)


def test_nobody_reads_the_log_without_permission(client: Client) -> None:
    call = record()
    person = User.objects.create_user("somebody", is_staff=True)
    client.force_login(person)
    urls = (LIST, f"{LIST}export/", address(ToolRequest, "change", call.pk))
    assert [client.get(url).status_code for url in urls] == [403, 403, 403]
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    exported: Any = client.get(urls[1])
    assert b"search_notes" in b"".join(exported.streaming_content)
    assert [client.get(url).status_code for url in (urls[0], urls[2])] == [200, 200]
    assert client.get(f"{LIST}export/", {"answers": "1"}).status_code == 403


@pytest.mark.parametrize(
    ("may", "offered"),
    [
        ((), set()),
        (("view_tool",), {"herd_sheep"}),
        (("view_apiclient",), {"shepherd"}),
        (("view_tool", "change_apiclient"), {"herd_sheep", "shepherd"}),
    ],
)
def test_only_names_that_a_person_may_look_at_are_offered(
    client: Client, may: tuple[str, ...], offered: set[str]
) -> None:
    make_tool(name="herd_sheep")
    make_client(name="shepherd")
    user = User.objects.create_user("someone", is_staff=True)
    given = ("view_toolrequest", *may)
    user.user_permissions.set(Permission.objects.filter(codename__in=given))
    client.force_login(user)
    page = text(client.get(address(ToolRequest, "changelist")))
    assert {name for name in ("herd_sheep", "shepherd") if name in page} == offered


def test_addresses_of_the_log_are_those_the_list_knows(admin_client: Client) -> None:
    record(tool_id="a", caller="admin:root")
    since, until = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
    for url, found in (
        (addresses.calls(), 1),
        (addresses.calls(since, until), 1),
        (addresses.calls(until), 0),
        (addresses.calls(since, until, **addresses.FAILED), 0),
        (addresses.running(), 0),
        (addresses.of_tool("a", since), 1),
        (addresses.of_caller("admin:root", since, until), 1),
    ):
        page = text(admin_client.get(url))
        assert 'class="log-error"' not in page
        assert page.count('data-label="Tool"') == found, url
