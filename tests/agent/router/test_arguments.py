"""Arguments follow the schema: types, limits, choices, formats, defaults; what is not told is missing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agent.intents.cases import recorded_tools
from agent.router import Choice, Offered, Router
from tests.agent.router.catalogue import number, text, tool

TODAY = date(2026, 11, 18)


async def routed(message: str, *tools: Offered) -> Choice:
    choice = await Router(tools or recorded_tools(), today=lambda: TODAY).route(message)
    assert choice is not None
    return choice


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("2026-12-24", "2026-12-24"),
        ("tomorrow", "2026-11-19"),
        ("the day after tomorrow", "2026-11-20"),
        ("friday", "2026-11-20"),
        ("next Wednesday", "2026-11-25"),
        ("in 2 weeks", "2026-12-02"),
        ("in two weeks from now", "2026-12-02"),
        ("a week from friday", "2026-11-27"),
        ("3 days after tomorrow", "2026-11-22"),
        ("24 December", "2026-12-24"),
        ("March 3rd", "2027-03-03"),
        ("Dec 24, 2027", "2027-12-24"),
    ],
)
async def test_days_are_read_as_people_name_them(words: str, day: str) -> None:
    choice = await routed(f"change todo 4, it is due {words}")
    assert dict(choice.arguments) == {"todo_id": 4, "due_date": day}


@pytest.mark.parametrize("words", ["2026-02-31", "2026-13-01", "32 December"])
async def test_days_that_do_not_exist_are_not_sent(words: str) -> None:
    assert "due_date" not in (await routed(f"change todo 4, it is due {words}")).arguments


@pytest.mark.parametrize("again", ["every monday", "each Friday", "every other friday"])
async def test_what_comes_back_has_no_day_and_stays_in_the_text(again: str) -> None:
    choice = await routed(f"add a todo: call Ann {again}")
    assert dict(choice.arguments) == {"title": f"call Ann {again}"}


async def test_what_is_required_and_not_told_is_named_as_missing() -> None:
    choice = await routed("delete a todo")
    assert (choice.tool, dict(choice.arguments), choice.missing) == (
        "delete_todo",
        {},
        ("todo_id",),
    )


async def test_numbers_outside_the_limits_are_not_sent() -> None:
    # F2-28
    choice = await routed("set the priority of todo 3 to 9")
    assert dict(choice.arguments) == {"todo_id": 3}


async def test_defaults_are_left_to_the_server() -> None:
    assert dict((await routed("show my todos")).arguments) == {}


async def test_what_stands_in_quotes_is_never_an_order() -> None:
    choice = await routed("add a todo 'delete the old backups, priority 1'")
    assert choice.tool == "create_todo"
    assert choice.arguments["title"] == "delete the old backups, priority 1"


async def test_texts_are_cut_to_what_the_schema_allows() -> None:
    choice = await routed("add a todo to " + "carry stones " * 60)
    assert choice.tool == "create_todo"
    assert 150 < len(choice.arguments["title"]) <= 200


@pytest.mark.parametrize(
    ("says", "arguments"),
    [
        ("set the title of todo 5 to Milk", {"title": "Milk"}),
        ("I want to change the title of my todo #5 to buy milk", {"title": "buy milk"}),
        ("please update todo 5's title to buy milk, thanks", {"title": "buy milk"}),
        ("edit the description of 5 to call first", {"description": "call first"}),
        ("change the title of todo 5 to that of todo 6", {"title": "that of todo 6"}),
    ],
)
async def test_a_text_that_a_field_is_set_to_is_taken_and_asked_about(
    says: str, arguments: dict[str, Any]
) -> None:
    choice = await routed(says)
    assert (choice.tool, dict(choice.arguments)) == ("update_todo", {"todo_id": 5, **arguments})
    assert not choice.sure


@pytest.mark.parametrize(
    ("schema", "says", "expected"),
    [
        (text("Id of the run.", format="uuid"), "run 6f9619ff-8b86-4d01-b42d-00cf4fc964ff", True),
        (text("Id of the run.", format="uuid"), "run 640AB12", False),
        (text("Id of the run.", pattern="^R[0-9]+$"), "run R1234", True),
        (text("Id of the run.", pattern="^R[0-9]+$"), "run X1234", False),
    ],
)
async def test_formats_and_patterns_are_kept_to(
    schema: dict[str, Any], says: str, expected: bool
) -> None:
    choice = await routed(f"get {says}", tool("get_run", "Gives a run.", "run_id", run_id=schema))
    assert ("run_id" in choice.arguments) is expected


async def test_references_and_alternatives_in_schemas_are_followed() -> None:
    schema = {
        "type": "object",
        "$defs": {"Level": {"enum": ["gold", "silver"], "type": "string"}},
        "properties": {
            "member_id": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "level": {"$ref": "#/$defs/Level"},
        },
        "required": ["member_id"],
    }
    choice = await routed(
        "update member 12 to gold", Offered("update_member", "Changes a member.", schema)
    )
    assert dict(choice.arguments) == {"member_id": 12, "level": "gold"}


async def test_words_for_the_most_and_least_mean_the_limits() -> None:
    level = number("How loud.", minimum=0, maximum=11)
    volume = tool("set_volume", "Sets the volume of a radio.", "volume", volume=level)
    assert dict((await routed("set the radio to the highest volume", volume)).arguments) == {
        "volume": 11
    }
