"""The request log in the admin."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import make_client, make_tool
from tests.tools.admin.pages import act, address, text
from tests.tools.log_rows import NOW, record
from tools.models import ToolRequest, ToolResponse
from tools.selectors.request_log import pages

pytestmark = pytest.mark.django_db


def listed(client: Client, **query: Any) -> str:
    """The rows of the list, or what stands in their place."""
    shown = text(client.get(address(ToolRequest, "changelist"), query))
    return shown[shown.index('id="changelist-form"') :]


def test_list_shows_how_calls_went(admin_client: Client) -> None:
    # S0-019 S0-034
    api_client, _ = make_client(name="Chat agent")
    record(
        state="failed",
        status="timeout",
        code="TIMEOUT",
        caller=f"client:{api_client.pk}",
        transport="streamable_http",
    )
    shown = listed(admin_client)
    for part in (
        "2026-03-01 12:30:15",
        "search_notes",
        "failed",
        "timeout",
        "TIMEOUT",
        f"Chat agent (client:{api_client.pk})",
        "streamable_http",
        "1,234.5 ms",
    ):
        assert part in shown


def test_page_of_a_call_shows_question_answer_and_times(admin_client: Client) -> None:
    # S0-033 S0-036
    row = record()
    ToolResponse.objects.create(
        request=row,
        response_id=row.request_id,
        received_at=NOW,
        body='{"answer": "on <i>Monday</i>"}',
    )
    shown = text(admin_client.get(address(ToolRequest, "change", row.pk)))
    for part in (
        str(row.request_id),
        "&lt;b&gt;when&lt;/b&gt;",
        "&quot;answer&quot;: &quot;on &lt;i&gt;Monday&lt;/i&gt;&quot;",
        "2026-03-01 12:30:16.484",
        "1200.1",
    ):
        assert part in shown


def test_page_of_a_call_hides_the_answer_from_who_may_not_see_answers(client: Client) -> None:
    row = record()
    ToolResponse.objects.create(
        request=row, response_id=row.request_id, received_at=NOW, body='{"answer": "of somebody"}'
    )
    group = Group.objects.create(name="Own")
    group.permissions.add(Permission.objects.get(codename="view_toolrequest"))
    person = User.objects.create_user("own", is_staff=True)
    person.groups.add(group)
    client.force_login(person)
    shown = text(client.get(address(ToolRequest, "change", row.pk)))
    assert "Not shown: you may not see the answers of calls" in shown
    assert "of somebody" not in shown
    group.permissions.add(Permission.objects.get(codename="view_toolresponse"))
    assert "of somebody" in text(client.get(address(ToolRequest, "change", row.pk)))


def test_call_still_running_and_without_a_body_has_a_page(admin_client: Client) -> None:
    row = record(state="executing", status="", finished_at=None, duration_ms=None, tool_id="gone")
    shown = text(admin_client.get(address(ToolRequest, "change", row.pk)))
    assert "executing" in shown
    assert "not kept" in shown
    assert "gone" in listed(admin_client)


@pytest.mark.parametrize("model", [ToolRequest, ToolResponse])
def test_log_is_read_only(admin_client: Client, model: Any) -> None:
    row = record()
    ToolResponse.objects.create(request=row, response_id=row.request_id, received_at=NOW, body="{}")
    assert admin_client.get(address(model, "add")).status_code == 403
    assert admin_client.post(address(model, "add"), {}).status_code == 403
    assert (
        admin_client.post(address(model, "change", row.pk), {"state": "failed"}).status_code == 403
    )
    assert admin_client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    act(admin_client, model, "delete_selected", row)
    assert ToolRequest.objects.get().state == "completed"
    assert ToolResponse.objects.count() == 1


def test_search_finds_by_id_tool_caller_and_correlation(admin_client: Client) -> None:
    api_client, _ = make_client(name="Chat agent")
    make_tool(name="search_notes")
    wanted = record(
        caller=f"client:{api_client.pk}",
        correlation_id="trace-7",
        thread_id="thread-9",
        tool_id="search_notes",
    )
    record(tool_id="unknown_tool", caller="admin:root", correlation_id=str(uuid4()))
    for term in (
        str(wanted.request_id),
        wanted.request_id.hex,
        str(wanted.call_id),
        "trace-7",
        "thread-9",
        "notes",
        "chat",
        f"client:{api_client.pk}",
    ):
        shown = listed(admin_client, q=term)
        assert "search_notes" in shown, term
        assert "unknown_tool" not in shown, term
    for term in ("unknown_tool", "root", "admin:root"):
        shown = listed(admin_client, q=term)
        assert "unknown_tool" in shown, term
        assert ">search_notes<" not in shown, term
    assert "No call matches" in listed(admin_client, q="nothing like it")


def test_search_finds_a_correlation_id_that_is_a_uuid(admin_client: Client) -> None:
    correlation = str(uuid4())
    record(correlation_id=correlation)
    assert "search_notes" in listed(admin_client, q=correlation)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"state__exact": "failed"}, True),
        ({"state__exact": "completed"}, False),
        ({"status__exact": "failure"}, True),
        ({"code__exact": "EXECUTION_ERROR"}, True),
        ({"transport__exact": "cli"}, False),
        ({"source": "http_api"}, True),
        ({"source": "pipeline"}, False),
        ({"cache_hit__exact": 1}, False),
        (
            {
                "received_at__gte": "2026-03-01 00:00:00+00:00",
                "received_at__lt": "2026-03-02 00:00:00+00:00",
            },
            True,
        ),
    ],
)
def test_list_is_filtered(admin_client: Client, query: dict[str, Any], found: bool) -> None:
    record(state="failed", status="failure", code="EXECUTION_ERROR")
    assert ("search_notes" in listed(admin_client, **query)) is found


def test_count_stops_at_the_cap_and_says_so(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_COUNTED", 3)
    for _ in range(3):
        record()
    url = address(ToolRequest, "changelist")
    assert "<strong>3 calls</strong>" in text(admin_client.get(url))
    record()
    assert "<strong>3+ calls</strong>" in text(admin_client.get(url))


@pytest.mark.parametrize("model", [ToolRequest, ToolResponse])
def test_no_query_counts_or_sorts_the_whole_table(admin_client: Client, model: Any) -> None:
    for _ in range(51):
        row = record()
        ToolResponse.objects.create(request=row, response_id=row.request_id, received_at=NOW)
    with CaptureQueriesContext(connection) as queries:
        admin_client.get(address(model, "changelist"), {"o": "1.2.3.4", "_facets": "True"})
    statements = [
        entry["sql"] for entry in queries.captured_queries if "tools_toolre" in entry["sql"]
    ]
    assert statements
    assert all("LIMIT" in statement for statement in statements)
    assert not [statement for statement in statements if "DISTINCT" in statement]
    orders = {
        statement.rsplit("ORDER BY")[-1] for statement in statements if "COUNT(" not in statement
    }
    assert all("received_at" in order and "duration_ms" not in order for order in orders)
    assert not [order for order in orders if '"body"' in order]


def test_answers_are_listed_searched_and_linked_to_their_call(admin_client: Client) -> None:
    # S0-036 S0-052
    row = record()
    ToolResponse.objects.create(
        request=row, response_id=row.request_id, received_at=NOW, body='{"a": 1', truncated=True
    )
    url = address(ToolResponse, "changelist")
    assert str(row.request_id) in text(admin_client.get(url))
    assert str(row.request_id) in text(admin_client.get(url, {"q": str(row.request_id)}))
    assert "No answer matches" in text(admin_client.get(url, {"q": str(uuid4())}))
    assert "No answer matches" in text(admin_client.get(url, {"q": "no uuid"}))
    page = text(admin_client.get(address(ToolResponse, "change", row.pk)))
    assert address(ToolRequest, "change", row.pk) in page
    assert "the rest was not kept" in page
