"""The intents were written for the tools that are served now, and the router finds them there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from agent.evaluate_intents import main, router_chooser
from agent.intents.cases import load, recorded_tools
from agent.intents.measure import figures, measure, table
from agent.intents.wire import ControlPlane
from agent.router import Offered, Router
from tests.clients.visits import Plane
from tests.processes import wait_until
from tests.yardstick import stretched


class Searched:
    """The search of a control plane. The router goes on without what fails, so it is kept here."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self.found = 0
        self.failed: list[str] = []

    async def __call__(self, message: str) -> Sequence[str]:
        try:
            names = await self._control_plane.search(message)
        except Exception as fault:
            # Without its text: that may say what was asked, and what is held out must not be seen.
            self.failed.append(type(fault).__name__)
            raise
        self.found += bool(names)
        return names


def served(plane: Plane) -> list[Offered]:
    """The demo's tools over MCP, all pages, without what the tests of clients add."""
    tools = ControlPlane(f"{plane.url}/mcp").tools()
    return [tool for tool in tools if not tool.name.startswith(("filler_", "echo"))]


@pytest.fixture
def tools(plane: Plane) -> list[Offered]:
    """What is served once everything was discovered."""
    recorded = {tool.name for tool in recorded_tools()}
    wait_until(lambda: recorded <= {tool.name for tool in served(plane)}, what="the demo's tools")
    return served(plane)


def test_the_recorded_tools_are_the_ones_served_now(tools: list[Offered]) -> None:
    # F2-28
    recorded = {tool.name: tool for tool in recorded_tools()}
    assert {tool.name: tool for tool in tools} == recorded, (
        "record them: python -m agent.evaluate_intents --url http://127.0.0.1:8000/mcp --record"
    )


async def test_nine_of_ten_requests_reach_the_right_tool_with_the_search_of_the_control_plane(
    plane: Plane, tools: list[Offered], capsys: pytest.CaptureFixture[str]
) -> None:
    # F2-14
    control_plane = ControlPlane(f"{plane.url}/mcp")
    found = await control_plane.search("pedigree of a sheep")
    assert "nsip_get_lineage" in found
    search = Searched(control_plane)
    outcomes = await measure(router_chooser(tools, search), load("held-out"), tools)
    assert search.failed == []
    # Most requests are about something that is offered.
    assert search.found > len(outcomes) / 2
    with capsys.disabled():
        print(f"\nheld-out part, with tool_search\n{table(outcomes)}")  # noqa: T201
    # Whoever works on the router must not see what is held out, not even when the test fails.
    assert figures(outcomes).tool_percent >= 90, table(outcomes)


async def test_each_operation_on_todos_is_done_from_words(
    plane: Plane, tools: list[Offered]
) -> None:
    # F2-03
    control_plane = ControlPlane(f"{plane.url}/mcp")
    search = Searched(control_plane)
    router = Router(tools, search)

    async def done(message: str) -> dict[str, Any]:
        began = time.monotonic()
        choice = await router.route(message)
        assert choice is not None
        assert choice.missing == ()
        asked = {"name": choice.tool, "arguments": choice.arguments}
        result = await asyncio.to_thread(control_plane.ask, "tools/call", asked)
        seconds = time.monotonic() - began
        assert seconds < 3 or seconds < stretched(3)
        assert not result["isError"], result
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    made = await done("remind me to oil the gate on 2027-03-01 with priority 4")
    assert (made["title"], made["due_date"], made["priority"]) == ("oil the gate", "2027-03-01", 4)
    listed = await done("show my todos with priority 4")
    assert made["id"] in [todo["id"] for todo in listed["todos"]]
    found = await done("search my todos for gate")
    assert made["id"] in [todo["id"] for todo in found["todos"]]
    changed = await done(f"mark todo {made['id']} as done")
    assert changed["status"] == "completed"
    gone = await done(f"delete todo {made['id']}")
    assert gone["deleted"] is True
    assert search.failed == []


def test_the_command_takes_the_tools_from_an_address(
    plane: Plane, tools: list[Offered], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--url", f"{plane.url}/mcp"]) == 0
    first, *_, last, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("development part, ")
    assert first.endswith(" tools, router with tool_search")
    assert last.split()[:2] == ["all", str(len(load("development")))]
