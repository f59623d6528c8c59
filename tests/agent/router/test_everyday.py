"""Requests as people say them in passing: the right tool is found, and what may not be meant is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from agent.intents.cases import TODAY, recorded_tools
from agent.router import Choice, Offered, Router


async def routed(message: str, tools: list[Offered] | None = None) -> Choice | None:
    return await Router(tools or recorded_tools(), today=lambda: TODAY).route(message)


@pytest.mark.parametrize(
    ("message", "tool", "arguments"),
    [
        ("check off 5", "update_todo", {"todo_id": 5, "status": "completed"}),
        ("cross number 3 off my list", "update_todo", {"todo_id": 3, "status": "completed"}),
        (
            "add a description to todo 3: bring both keys",
            "update_todo",
            {"todo_id": 3, "description": "bring both keys"},
        ),
        ("make todo 6 urgent", "update_todo", {"todo_id": 6}),
        (
            "todo 16 is not urgent, drop it to priority 1",
            "update_todo",
            {"todo_id": 16, "priority": 1},
        ),
        ("scratch todo 5", "delete_todo", {"todo_id": 5}),
        ("ditch the task number 4", "delete_todo", {"todo_id": 4}),
        ("bin number 6", "delete_todo", {"todo_id": 6}),
        ("take todo 7 off the list", "delete_todo", {"todo_id": 7}),
        ("I need milk on the list", "create_todo", {"title": "milk"}),
        ("can you pop eggs on my list?", "create_todo", {"title": "eggs"}),
        ("jot down: call Susan", "create_todo", {"title": "call Susan"}),
        (
            "set a reminder to water the plants on Sunday",
            "create_todo",
            {"title": "water the plants", "due_date": "2026-11-22"},
        ),
        (
            "I've got to renew my passport before 1 March 2027",
            "create_todo",
            {"title": "renew my passport", "due_date": "2027-03-01"},
        ),
        ("I need to book a flight to Rome", "create_todo", {"title": "book a flight to Rome"}),
    ],
)
async def test_what_is_said_in_passing_finds_its_tool_and_is_asked_about(
    message: str, tool: str, arguments: Mapping[str, Any]
) -> None:
    choice = await routed(message)
    assert choice is not None
    assert (choice.tool, dict(choice.arguments), choice.sure) == (tool, arguments, False)


def between(before: str | None, after: str | None) -> dict[str, str]:
    ends = {"due_date_before": before, "due_date_after": after}
    return {name: day for name, day in ends.items() if day}


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        # Today is Wednesday, 18 November 2026.
        ("what is due today?", between("2026-11-19", "2026-11-17")),
        ("anything due tomorrow?", between("2026-11-20", "2026-11-18")),
        ("what is due this week?", between("2026-11-23", "2026-11-15")),
        ("todos due this weekend", between("2026-11-23", "2026-11-20")),
        ("todos due next week", between("2026-11-30", "2026-11-22")),
        ("my todos for next month", between("2027-01-01", "2026-11-30")),
        ("my todos for December", between("2027-01-01", "2026-11-30")),
        ("tasks due in the next 3 days", between("2026-11-22", "2026-11-17")),
        ("what is due by Friday?", between("2026-11-21", None)),
        ("what is due before Friday?", between("2026-11-20", None)),
        ("show me overdue tasks", between("2026-11-18", None)),
    ],
)
async def test_a_span_of_days_limits_what_is_listed(
    message: str, arguments: Mapping[str, Any]
) -> None:
    choice = await routed(message)
    assert choice is not None
    assert (choice.tool, dict(choice.arguments)) == ("list_todos", arguments)


async def test_the_ends_of_a_span_are_inside_where_the_schema_says_from_and_to() -> None:
    days = {name: {"type": "string", "format": "date"} for name in ("day_from", "day_to")}
    tool = Offered(
        "list_bookings", "Lists bookings of rooms.", {"type": "object", "properties": days}
    )
    choice = await routed("list the bookings of this week", [tool])
    assert choice is not None
    assert dict(choice.arguments) == {"day_from": "2026-11-16", "day_to": "2026-11-22"}


@pytest.mark.parametrize("today", [date.max, date.min])
async def test_a_span_past_the_end_of_all_days_is_none(today: date) -> None:
    choice = await Router(recorded_tools(), today=lambda: today).route(
        "show the todos due this week"
    )
    assert choice is not None
    assert choice.tool == "list_todos"


@pytest.mark.parametrize(
    "message", ["how are you doing today?", "who are you?", "no, don't create a task for that"]
)
async def test_small_talk_and_what_is_not_wanted_reach_no_tool(message: str) -> None:
    assert await routed(message) is None
