"""What is told about a tool's state."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.management import call_command

from tests.factories import make_pipeline, make_tool, make_version, tool_values
from tools.backends.registry import Registry
from tools.contracts import ToolSource, time_ordered_uuid
from tools.models import Tool, ToolRequest
from tools.services import tool_status as told
from tools.services.tool_status import (
    ToolStatus,
    flawed_tools,
    index_faults,
    listed_faults,
    source_faults,
    tool_faults,
    tool_status,
    tool_statuses,
)

pytestmark = pytest.mark.django_db


def finish(tool: Tool, codes: Sequence[str]) -> None:
    """Calls of `tool` that ended with `codes`, the last one latest; empty means success."""
    start = datetime.now(UTC) - timedelta(minutes=1)
    ToolRequest.objects.bulk_create(
        ToolRequest(
            call_id=time_ordered_uuid(),
            request_id=uuid4(),
            tool_id=tool.name,
            transport="rest",
            caller="address:127.0.0.1",
            state="failed" if code else "completed",
            status="failure" if code else "success",
            code=code,
            received_at=start + timedelta(seconds=index),
            deadline_at=start + timedelta(seconds=30),
            finished_at=start + timedelta(seconds=index, milliseconds=5),
            duration_ms=5,
        )
        for index, code in enumerate(codes)
    )


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ([], ToolStatus.HEALTHY),
        (["", ""], ToolStatus.HEALTHY),
        (["INVALID_ARGUMENTS", "RATE_LIMITED"], ToolStatus.HEALTHY),
        (["TIMEOUT", ""], ToolStatus.DEGRADED),
        (["EXECUTION_ERROR"] * 2, ToolStatus.DEGRADED),
        (["EXECUTION_ERROR"] * 3, ToolStatus.UNAVAILABLE),
        (["", *["SERVICE_UNAVAILABLE"] * 20], ToolStatus.UNAVAILABLE),
        (["INTERNAL_ERROR", *[""] * 20], ToolStatus.HEALTHY),
    ],
)
def test_status_follows_the_latest_calls(codes: list[str], status: ToolStatus) -> None:
    # S0-014
    tool = make_tool()
    finish(tool, codes)
    assert tool_status(tool) == status


def test_tool_that_cannot_serve_is_unavailable() -> None:
    # S0-014
    assert tool_status(make_tool(enabled=False)) == ToolStatus.UNAVAILABLE
    assert tool_status(make_tool(source="builtin", handler="nothing")) == ToolStatus.UNAVAILABLE
    assert set(ToolStatus) == {"healthy", "degraded", "unavailable"}


def test_handler_of_a_builtin_must_exist() -> None:
    # S4-005
    (fault,) = tool_faults(make_tool(source="builtin", handler="nothing"))
    assert fault.startswith("handler: 'nothing' is not a built-in; choose one of ")
    assert tool_faults(make_tool(source="builtin", handler="server_metrics")) == []


def test_every_source_has_a_backend() -> None:
    assert {source: source_faults(source) for source in ToolSource} == {
        source: [] for source in ToolSource
    }


def test_source_without_a_backend_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "registry", Registry())
    (fault,) = tool_faults(make_tool(source="upstream"))
    assert fault == "source: this version of the service has nothing that serves upstream tools"


def test_flawed_tools_are_the_enabled_bad_ones() -> None:
    make_tool(name="good")
    make_tool(name="off", source="upstream", enabled=False)
    Tool.objects.bulk_create([Tool(**tool_values(name="bad", tags={"no": "list"}))])
    assert list(flawed_tools()) == ["bad"]


def test_what_failed_long_ago_says_nothing_of_a_tool_now() -> None:
    tool = make_tool()
    finish(tool, ["EXECUTION_ERROR"] * 3)
    assert tool_status(tool) == ToolStatus.UNAVAILABLE
    ToolRequest.objects.update(received_at=datetime.now(UTC) - timedelta(days=8))
    assert tool_status(tool) == ToolStatus.HEALTHY


def test_many_tools_have_the_status_that_each_has_by_itself() -> None:
    failing, mixed = make_tool(name="failing"), make_tool(name="mixed")
    finish(failing, ["", *["TIMEOUT"] * 20])
    finish(mixed, ["TIMEOUT", ""])
    make_tool(name="off", enabled=False)
    make_tool(name="idle")
    make_tool(name="astray", source="upstream")
    make_pipeline(pipeline_name="crag")
    make_version(make_pipeline(pipeline_name="basic").corpus, state="active")
    call_command("seed_nsip", stdout=io.StringIO())
    tools = list(Tool.objects.all())
    faults = listed_faults(tools)
    # Shorter than each says it by itself, but as many.
    assert {key: len(told) for key, told in faults.items()} == {
        tool.pk: len([*index_faults(tool), *tool_faults(tool)]) for tool in tools
    }
    found = tool_statuses(tools, faults)
    assert found == {tool.name: tool_status(tool) for tool in tools}
    assert set(found.values()) == set(ToolStatus)
    assert (found["rag_basic"], found["rag_crag"]) == ("healthy", "unavailable")
    assert tool_statuses([], {}) == {}
