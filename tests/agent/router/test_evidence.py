"""What is said of a thing tells which of its tools is meant, whatever words are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.intents.cases import TODAY, recorded_tools
from agent.router import Choice, Offered, Router


async def routed(message: str, tools: list[Offered] | None = None) -> Choice | None:
    return await Router(tools or recorded_tools(), today=lambda: TODAY).route(message)


@pytest.mark.parametrize(
    ("message", "tool", "arguments"),
    [
        ("todo ring the electrician", "create_todo", {"title": "ring the electrician"}),
        ("one for the list: clear the gutters", "create_todo", {"title": "clear the gutters"}),
        (
            "don't let me miss the vet's visit on 24 November",
            "create_todo",
            {"title": "the vet's visit", "due_date": "2026-11-24"},
        ),
        (
            "can we shift todo 12 to next Tuesday",
            "update_todo",
            {"todo_id": 12, "due_date": "2026-11-24"},
        ),
        ("task 9 is sorted", "update_todo", {"todo_id": 9, "status": "completed"}),
        ("would you mind taking the tags off todo 16?", "update_todo", {"todo_id": 16, "tags": []}),
        (
            "which of my tasks has the word Kubernetes in it?",
            "search_todos",
            {"query": "Kubernetes"},
        ),
        ("have I got a to-do on the tax return", "search_todos", {"query": "tax return"}),
        ("where's my todo list", "list_todos", {}),
        (
            "6401492020FLE249: parents and lambs please",
            "nsip_search_by_lpn",
            {"lpn_id": "6401492020FLE249"},
        ),
        ("todos due before December", "list_todos", {"due_date_before": "2026-12-01"}),
        ("show the work-tagged todos", "list_todos", {"tags": ["work"]}),
        (
            "remind me to pay the rent by the 30th",
            "create_todo",
            {"title": "pay the rent", "due_date": "2026-11-30"},
        ),
    ],
)
async def test_the_role_of_a_tool_is_told_by_what_is_said_of_its_thing(
    message: str, tool: str, arguments: Mapping[str, Any]
) -> None:
    # F2-14
    choice = await routed(message)
    assert choice is not None
    assert (choice.tool, dict(choice.arguments)) == (tool, arguments)


@pytest.mark.parametrize(
    "message",
    [
        "todo ring the electrician",
        "can we shift todo 12 to next Tuesday",
        "help me remember the play",
    ],
)
async def test_what_is_concluded_and_not_ordered_is_asked_about(message: str) -> None:
    choice = await routed(message)
    assert choice is not None
    assert (choice.reads, choice.sure) == (False, False)


@pytest.mark.parametrize(
    "message",
    [
        "my ewe is limping, can you phone the vet?",
        "draw me a picture of a sheep",
        "translate this into German: the sheep are out",
        "take a photo of the ram",
        "what's 20 euros in pounds",
        "know any good jokes?",
    ],
)
async def test_what_no_tool_does_reaches_none(message: str) -> None:
    assert await routed(message) is None


@pytest.mark.parametrize(
    "message", ["should I move todo 5 to Friday?", "don't change todo 5 to priority 2"]
)
async def test_what_is_denied_or_only_asked_about_changes_nothing(message: str) -> None:
    choice = await routed(message)
    assert choice is None or choice.reads


async def test_a_deed_that_a_tool_is_named_for_is_one_for_that_tool() -> None:
    numbers = {"number": {"type": "string", "description": "The number to phone."}}
    tool = Offered(
        "get_phone_number",
        "Gets the phone number of a farm's vet.",
        {"type": "object", "properties": numbers},
        read_only=True,
    )
    choice = await routed("phone the vet", [tool])
    assert choice is not None
    assert choice.tool == "get_phone_number"


async def test_what_has_to_be_done_by_the_rules_is_a_question_for_documents() -> None:
    choice = await routed("do we have to register new ewes within 30 days?")
    assert choice is not None
    assert choice.tool.startswith("rag_")
