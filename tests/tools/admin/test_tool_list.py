"""The list of tools: what each did in a day."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.events import closing
from tests.factories import make_tool
from tests.tools.admin.pages import text
from tools.selectors.hours import tool_hours
from tools.services.fold_figures import fold_figures
from tools.services.write_journal import write_events

pytestmark = pytest.mark.django_db

PAGE = "/admin/tools/tool/"


def call(tool: str, hours: float = 0.0, **changes: Any) -> None:
    at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    event = closing(str(uuid.uuid4()), tool=tool, received_at=at, finished_at=at, **changes)
    write_events([json.dumps(event)])


def fail(tool: str, hours: float = 0.0) -> None:
    call(tool, hours, status="failure", state="failed", code="EXECUTION_ERROR", error="broken")


def cells(page: str, field: str) -> list[str]:
    return re.findall(rf'<td class="[^"]*field-{field}[^"]*"[^>]*>(.*?)</td>', page, re.DOTALL)


def test_calls_failures_and_times_of_a_day_are_shown(admin_client: Client) -> None:
    make_tool(name="a_busy")
    make_tool(name="b_idle")
    for _ in range(3):
        call("a_busy", hours=2, duration_ms=100.0)
    fail("a_busy", hours=5)
    call("a_busy", hours=30)
    make_tool(name="c_off", enabled=False)
    page = text(admin_client.get(PAGE))
    statuses = [re.sub(r"<[^>]*>", "", one).strip() for one in cells(page, "status_now")]
    assert statuses == ["degraded", "healthy", "unavailable"]
    busy, idle, _ = cells(page, "calls_of_a_day")
    link = re.search(r'href="([^"]+)">4<', busy)
    assert link, busy
    assert admin_client.get(unescape(link[1])).context["cl"].result_count == 4
    assert re.sub(r"\s", "", idle).endswith("-")
    failed = cells(page, "failed_of_a_day")[0]
    assert "25.0 %" in failed
    assert failed.count("<rect") == 1
    told = re.search(r"(\d+) ms", cells(page, "p95_of_a_day")[0])
    assert told
    assert int(told[1]) == pytest.approx(100, abs=2)


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
