"""A tool that changes something is called when that is asked for, and not when it is spoken of."""

from __future__ import annotations

from typing import Any

import pytest

from agent.intents.cases import recorded_tools
from agent.router import Router

ROUTER = Router(recorded_tools())
WRITING = {"create_todo", "update_todo", "delete_todo"}
NO_ORDERS = [
    "don't delete todo 5",
    "can't delete todo 5",
    "I did not delete todo 5",
    "do not get rid of todo 5",
    "there is no need to delete todo 5",
    "keep todo 5, don't remove it",
    "should I delete todo 5?",
    "should I delete todo 5",
    "how do I delete todo 5?",
    "please, how do I delete todo 5?",
    "can you tell me how to delete todo 5?",
    "who deleted todo 5?",
    "why was todo 5 deleted",
    "todo 5 wip",
    "todo 5: remote meeting",
    "todo 5: bin day",
    "drop by the shop, todo 5",
    "is todo 5 done?",
    "todo 5 is not done",
    "don't mark todo 5 as done",
    "mark todo 5 as not done",
    "never create a todo called lunch",
    "don't mark 17 as done",
    "should I delete 17?",
    "is 17 done?",
    "don't rm todo 5",
    "delete 3 emails",
    "how do I delete a todo?",
    "I already added the dentist todo, no need to do anything",
    "never mind",
]
COMPLETED = {"todo_id": 5, "status": "completed"}
ORDERS: list[tuple[str, str, dict[str, Any]]] = [
    ("delete todo 5", "delete_todo", {"todo_id": 5}),
    ("can you delete todo 5?", "delete_todo", {"todo_id": 5}),
    ("could you please remove todo 5?", "delete_todo", {"todo_id": 5}),
    ("drop todo 5", "delete_todo", {"todo_id": 5}),
    ("I don't need todo 5 any more, delete it", "delete_todo", {"todo_id": 5}),
    ("don't delete todo 5, mark it as done", "update_todo", COMPLETED),
    ("would you mark todo 5 as done?", "update_todo", COMPLETED),
    ("mark 5 as done", "update_todo", COMPLETED),
    ("delete 5 please", "delete_todo", {"todo_id": 5}),
    ("rm todo 5", "delete_todo", {"todo_id": 5}),
    ("don't let me forget to buy milk", "create_todo", {"title": "buy milk"}),
    ("don't forget to buy milk", "create_todo", {"title": "buy milk"}),
    ("todo: is the shop open?", "create_todo", {"title": "is the shop open"}),
    ("add a todo: why is it red?", "create_todo", {"title": "why is it red"}),
]


@pytest.mark.parametrize("say", NO_ORDERS)
async def test_what_is_denied_asked_or_misread_changes_nothing(say: str) -> None:
    # F2-14
    choice = await ROUTER.route(say)
    assert choice is None or choice.tool not in WRITING


async def test_a_thing_that_was_deleted_is_not_deleted_again() -> None:
    choice = await ROUTER.route("restore deleted todo 5")
    assert choice is None or choice.tool != "delete_todo"


@pytest.mark.parametrize(("say", "tool", "arguments"), ORDERS, ids=[one[0] for one in ORDERS])
async def test_orders_are_still_orders(say: str, tool: str, arguments: dict[str, Any]) -> None:
    # F2-14
    choice = await ROUTER.route(say)
    assert choice is not None
    assert (choice.tool, dict(choice.arguments)) == (tool, arguments)
