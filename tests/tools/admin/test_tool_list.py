"""The list of tools: what each did in a day."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from unfold.admin import checkbox

from tests.events import closing
from tests.factories import make_tool, tool_values
from tests.tools.admin.pages import text
from tests.upstream_rows import definition, make_upstream
from tools.models import ApiOperation, ApiService, Tool, UpstreamItem, UpstreamServer
from tools.selectors.hours import tool_hours
from tools.services.fold_figures import fold_figures
from tools.services.write_journal import write_events

pytestmark = pytest.mark.django_db

PAGE = "/admin/tools/tool/"


def call(tool: str, hours: float = 0.0, **changes: Any) -> None:
    at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    event = closing(str(uuid.uuid4()), tool=tool, received_at=at, finished_at=at, **changes)
    write_events([json.dumps(event)])


def fail(tool: str, hours: float = 0.0, **changes: Any) -> None:
    broken = {"status": "failure", "state": "failed", "code": "EXECUTION_ERROR", "error": "broken"}
    call(tool, hours, **broken, **changes)


def cells(page: str, field: str) -> list[str]:
    return re.findall(rf'<td class="[^"]*field-{field}[^"]*"[^>]*>(.*?)</td>', page, re.DOTALL)


def behind(client: Client, cell: str, figure: str) -> int:
    """How many calls the link of a figure leads to."""
    link = re.search(rf'href="([^"]+)">{figure}<', cell)
    assert link, cell
    return int(client.get(unescape(link[1])).context["cl"].result_count)


def statuses(page: str) -> list[str]:
    return [re.sub(r"<[^>]*>", "", one).strip() for one in cells(page, "status_now")]


def names(page: str) -> list[str]:
    return re.findall(r"<a [^>]*>(\w+)</a>", " ".join(rows(page)))


def rows(page: str) -> list[str]:
    return re.findall(r'<t[dh] class="[^"]*field-name[^"]*"[^>]*>(.*?)</t[dh]>', page, re.DOTALL)


def test_calls_failures_and_times_of_a_day_are_shown(admin_client: Client) -> None:
    make_tool(name="a_busy")
    make_tool(name="b_idle")
    for _ in range(3):
        call("a_busy", hours=2, duration_ms=100.0)
    fail("a_busy", hours=5, duration_ms=5.0)
    call("a_busy", hours=30)
    make_tool(name="c_off", enabled=False)
    page = text(admin_client.get(PAGE))
    assert statuses(page) == ["degraded", "healthy", "off"]
    busy, idle, _ = cells(page, "calls_of_a_day")
    link = re.search(r'href="([^"]+)">4<', busy)
    assert link, busy
    assert admin_client.get(unescape(link[1])).context["cl"].result_count == 4
    assert re.sub(r"\s", "", idle).endswith("-")
    failed = cells(page, "failed_of_a_day")[0]
    assert behind(admin_client, failed, "25.0 %") == 1
    # One bar, of an hour in which every call failed.
    assert re.findall(r'<path d="M\d+ 20v-20h3v20z"', failed)
    told = re.search(r"(\d+) ms", cells(page, "p95_of_a_day")[0])
    assert told
    assert int(told[1]) == pytest.approx(100, abs=2)
    assert behind(admin_client, cells(page, "p95_of_a_day")[0], told[0]) == 3


def test_a_tool_that_callers_do_not_get_has_the_reason_under_its_status(
    admin_client: Client,
) -> None:
    make_tool(name="astray", source="upstream")
    (status,) = cells(text(admin_client.get(PAGE)), "status_now")
    assert "unavailable" in status
    assert "It belongs to no MCP server" in status


def test_what_somebody_switched_off_is_off_and_no_alarm(admin_client: Client) -> None:
    service = ApiService.objects.create(slug="api", base_url="https://api.example.org")
    served = make_tool(name="a_served", source="http_api")
    ApiOperation.objects.create(service=service, tool=served, method="GET", path="/things")
    tool = make_tool(name="b_offered", source="upstream")
    server = make_upstream(slug="far")
    UpstreamItem.objects.create(
        server=server,
        kind="tool",
        remote_name="offered",
        tool=tool,
        state="approved",
        offered=definition("offered"),
    )
    make_tool(name="z_off", enabled=False)
    ApiService.objects.update(enabled=False)
    UpstreamServer.objects.update(enabled=False)
    page = text(admin_client.get(PAGE))
    shown = cells(page, "status_now")
    assert len(shown) == 3
    assert all(re.match(r"off\b", one) for one in statuses(page))
    # The reason is told, and nothing of it is red.
    assert "Its HTTP API is switched off." in shown[0]
    assert "The MCP server far is switched off" in shown[1]
    assert "red" not in "".join(shown)
    own = text(admin_client.get(f"{PAGE}{served.pk}/change/"))
    assert re.search(r">\s*off\s*</span>", own)
    assert not re.search(r">\s*unavailable\s*</span>", own)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("failed", ["a_degraded", "b_down", "f_off", "g_refuses"]),
        ("degraded", ["a_degraded", "e_long_ago"]),
        ("unavailable", ["b_down", "c_flawed"]),
        ("healthy", ["d_idle", "g_refuses"]),
        ("off", ["f_off"]),
        ("nonsense", [*"abcdefg"]),
    ],
)
def test_the_list_can_be_narrowed_to_tools_that_need_a_look(
    admin_client: Client, status: str, expected: list[str]
) -> None:
    for name in ("a_degraded", "b_down", "d_idle", "e_long_ago", "g_refuses"):
        make_tool(name=name)
    make_tool(name="c_flawed", source="upstream")
    make_tool(name="f_off", enabled=False)
    call("a_degraded")
    fail("a_degraded", hours=2)
    for hours in (1, 2, 3):
        fail("b_down", hours)
    call("e_long_ago")
    fail("e_long_ago", hours=30)
    fail("f_off", hours=1)
    # The mistake was the caller's: the call failed, and the tool is well.
    call("g_refuses", status="failure", state="failed", code="INVALID_ARGUMENTS", error="no")
    page = text(admin_client.get(PAGE, {"status": status}))
    found = names(page)
    assert [one if len(expected[0]) > 1 else one[0] for one in found] == expected
    if status not in {"failed", "nonsense"}:
        assert {re.match(r"\w+", one)[0] for one in statuses(page)} == {status}  # type: ignore[index]
    assert "Failed in the last 24 h" in page


def test_who_may_not_see_calls_cannot_ask_which_tools_failed() -> None:
    make_tool(name="a_good")
    make_tool(name="b_bad")
    fail("b_bad")
    person = User.objects.create_user("somebody", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    page = text(client.get(PAGE, {"status": "failed"}))
    assert names(page) == ["a_good", "b_bad"]
    assert "Failed in the last 24 h" not in page
    assert names(text(client.get(PAGE, {"status": "degraded"}))) == ["b_bad"]


def test_the_list_can_be_in_the_order_of_what_is_counted(admin_client: Client) -> None:
    for name in ("a_slow", "b_busy", "c_failing", "d_idle"):
        make_tool(name=name)
    call("a_slow", duration_ms=900.0)
    for hours in (0, 1, 2):
        call("b_busy", hours, duration_ms=100.0)
    call("c_failing", duration_ms=10.0)
    fail("c_failing")
    # Older than what is shown.
    for _ in range(5):
        call("d_idle", hours=30, duration_ms=5000.0)

    def ordered(column: str) -> list[str]:
        return [name[0] for name in names(text(admin_client.get(PAGE, {"o": column})))]

    columns = admin_client.get(PAGE).context["cl"].list_display
    calls, failed, slow = (columns.index(f"{name}_of_a_day") for name in ("calls", "failed", "p95"))
    assert ordered(f"-{calls}") == ["b", "c", "a", "d"]
    assert ordered(f"{calls}") == ["d", "a", "c", "b"]
    assert ordered(f"-{failed}")[0] == "c"
    assert ordered(f"-{slow}")[:2] == ["a", "b"]
    # The heads of the columns lead there.
    head = text(admin_client.get(PAGE))
    assert f'href="?o={calls}' in head or f"o=-{calls}" in head


def test_a_list_without_tools_is_shown(admin_client: Client) -> None:
    assert admin_client.get(PAGE).status_code == 200


def test_the_list_costs_as_many_queries_for_any_number_of_tools(admin_client: Client) -> None:
    costs = []
    for number in range(12):
        make_tool(name=f"tool_{number:02d}")
        call(f"tool_{number:02d}")
        if number in {1, 11}:
            with CaptureQueriesContext(connection) as counted:
                assert admin_client.get(PAGE).status_code == 200
            costs.append(len(counted))
    assert costs[0] == costs[1] <= 30


@pytest.mark.parametrize("asked", [{"status": "unavailable"}, {"status": "failed"}, {"o": "-7"}])
def test_more_tools_than_a_statement_can_ask_for_one_by_one_cost_no_more(
    admin_client: Client, asked: dict[str, str]
) -> None:
    costs = []
    for count in (2, 600):
        Tool.objects.bulk_create(
            Tool(**tool_values(name=f"of_{count}_{number}", source="http_api"))
            for number in range(count)
        )
        fail(f"of_{count}_1")
        with CaptureQueriesContext(connection) as counted:
            assert admin_client.get(PAGE, asked).status_code == 200
        costs.append(len(counted))
    assert max(costs) <= 30
    assert costs[1] <= costs[0] + 1


def test_hours_are_the_same_before_and_after_adding_up() -> None:
    until = datetime.now(UTC)
    for hours in (0, 1, 1, 3, 23, 24, 40):
        call("echo", hours)
    fail("echo", 3)
    call("other", 1)
    before = tool_hours(["echo"], until + timedelta(seconds=1), 24)
    assert list(before) == ["echo"]
    assert sum(calls for calls, _ in before["echo"]) in {6, 7}
    assert [wrong for _, wrong in before["echo"] if wrong] == [1]
    assert before["echo"][-1] == (1, 0)
    fold_figures()
    assert tool_hours(["echo"], until + timedelta(seconds=1), 24) == before
    assert tool_hours([], until, 24) == {}


def test_a_row_is_chosen_by_the_box_that_the_theme_draws(admin_client: Client) -> None:
    tool = make_tool()
    page = text(admin_client.get(PAGE))
    assert checkbox.render(ACTION_CHECKBOX_NAME, str(tool.pk)) in page
