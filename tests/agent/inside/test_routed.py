"""Turns without a model: what is asked back, and how that is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool

from agent import texts
from agent.chat_agent import ChatAgent
from agent.history import LONGEST_TEXT, History, Turn
from agent.settings import Settings
from tests.agent.inside.servers import listing


def todos(made: list[tuple[str, Any]]) -> Sequence[BaseTool]:
    """Two tools that keep what they were told."""

    @tool
    def create_todo(title: str) -> str:
        """Creates a todo."""
        made.append(("create_todo", title))
        return "created"

    @tool
    def delete_todo(todo_id: int) -> str:
        """Deletes a todo."""
        made.append(("delete_todo", todo_id))
        return "deleted"

    return [create_todo, delete_todo]


@pytest.mark.parametrize(
    ("first", "reply"),
    [
        ("Delete a todo", "no wait, keep number 3"),
        ("Delete a todo", "Don’t delete 3"),
        ("Create a todo", "never mind"),
        ("Create a todo", "no"),
        ("Create a todo", "Forget it."),
        ("Create a todo", "cancel"),
    ],
)
async def test_what_was_asked_back_can_be_taken_back(first: str, reply: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    assert "Please tell also" in await agent.reply(first, thread_id="t")
    assert await agent.reply(reply, thread_id="t") == texts.DROPPED
    assert made == []
    assert "None fits" in await agent.reply("Hello", thread_id="t")


@pytest.mark.parametrize(
    ("first", "reply", "call"),
    [
        ("Delete a todo", "number 3", ("delete_todo", 3)),
        ("Delete a todo", "No. 3", ("delete_todo", 3)),
        ("Create a todo", "Buy milk", ("create_todo", "Buy milk")),
    ],
)
async def test_what_was_asked_back_is_taken_from_the_reply(
    first: str, reply: str, call: tuple[str, Any]
) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply(first, thread_id="t")
    await agent.reply(reply, thread_id="t")
    assert made == [call]


async def test_an_argument_that_may_be_anything_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"bird_id": True}, "required": ["bird_id"]}
    with listing({"name": "get_bird", "description": "Gives a bird.", "inputSchema": schema}) as at:
        agent = ChatAgent(Settings(mcp_url=at.url))
    assert await agent.reply("Get a bird", thread_id="t") != texts.UNEXPECTED
    assert await agent.reply("the wren", thread_id="t") != texts.UNEXPECTED


async def test_rules_remember_nothing_of_what_tools_answered() -> None:
    # F2-07 C12
    agent = ChatAgent(Settings(), todos([]))
    assert "created" in await agent.reply("Create a todo called tea", thread_id="t")
    assert agent._history.of("t") == ()


def test_long_answers_are_remembered_in_part() -> None:
    history = History()
    history.add("t", Turn("x" * 30_000, "y" * 30_000))
    assert history.of("t") == (Turn("x" * LONGEST_TEXT, "y" * LONGEST_TEXT),)
