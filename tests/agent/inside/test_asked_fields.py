"""Who is asked what to change answers with the name of a field, without a model."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from agent import texts
from agent.chat_agent import ChatAgent
from agent.events import CallStatus, Event, ToolCall
from agent.intents.cases import recorded_tools
from agent.settings import Settings

MILK = {"title": "oat milk"}


def answers(**given: Any) -> str:
    return "done"


def tools() -> list[BaseTool]:
    """Those of the demo, as far as they are about todos."""
    return [
        StructuredTool(
            name=one.name,
            description=one.description,
            args_schema=dict(one.input_schema),
            metadata={"readOnlyHint": one.read_only},
            func=answers,
        )
        for one in recorded_tools()
        if "todo" in one.name
    ]


async def said(agent: ChatAgent, message: str) -> list[Event]:
    return [event async for event in agent.stream(message, thread_id="t")]


def calls(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    told = [one for one in events if isinstance(one, ToolCall)]
    return [
        (one.tool_name, dict(one.args or {}))
        for one in told
        if one.status is CallStatus.IN_PROGRESS
    ]


async def asked() -> ChatAgent:
    """An agent that has just asked what to change of todo 5."""
    agent = ChatAgent(Settings(), tools())
    events = await said(agent, "update todo 5")
    assert calls(events) == []
    assert "Please tell what to change, one of these:" in str(events[-1])
    return agent


@pytest.mark.parametrize(
    ("reply", "change"),
    [
        ("priority 2", {"priority": 2}),
        ("the priority, to 2 please", {"priority": 2}),
        ("set the priority to 2", {"priority": 2}),
        ("status: archived", {"status": "archived"}),
        ("due date 2027-03-05", {"due_date": "2027-03-05"}),
        ("due 2027-03-05", {"due_date": "2027-03-05"}),
        ("title oat milk", MILK),
        ("set the title to oat milk", MILK),
    ],
)
async def test_the_name_of_a_field_and_its_value_are_the_change(
    reply: str, change: dict[str, Any]
) -> None:
    # F2-14
    events = await said(await asked(), reply)
    assert calls(events) == [("update_todo", {"todo_id": 5, **change})]


@pytest.mark.parametrize(
    "reply",
    ["priority 2 todos", "show those with priority 2", "which priorities are there?"],
)
async def test_what_may_be_sought_changes_nothing(reply: str) -> None:
    assert "update_todo" not in dict(calls(await said(await asked(), reply)))


@pytest.mark.parametrize(
    "reply",
    [
        "title, never mind",
        "the priority is fine, leave it",
        "title what do you mean?",
        "no priority",
    ],
)
async def test_what_is_no_value_changes_nothing(reply: str) -> None:
    events = await said(await asked(), reply)
    assert calls(events) == []
    assert texts.NO_MODEL in str(events[-1]) or texts.DROPPED in str(events[-1])


async def test_a_doubt_in_the_order_is_still_asked_about() -> None:
    agent = ChatAgent(Settings(), tools())
    await said(agent, "update todo 5 if it is mine")
    events = await said(agent, "priority 2")
    assert calls(events) == []
    assert "Shall I call update_todo with todo_id 5, priority 2?" in str(events[-1])


@pytest.mark.parametrize(
    ("order", "reply", "change"),
    [
        ("rename todo 5", "oat milk", MILK),
        ("change the title of todo 5", "oat milk", MILK),
        ("set the priority of todo 5", "3", {"priority": 3}),
    ],
)
async def test_what_an_order_was_without_is_taken_from_the_reply_and_asked_about(
    order: str, reply: str, change: dict[str, Any]
) -> None:
    # F2-14
    agent = ChatAgent(Settings(), tools())
    assert calls([*await said(agent, order), *await said(agent, reply)]) == []
    assert calls(await said(agent, "yes")) == [("update_todo", {"todo_id": 5, **change})]


@pytest.mark.parametrize("reply", ["thanks", "never mind", "what?", "hmm"])
async def test_what_is_said_to_the_agent_is_no_title(reply: str) -> None:
    agent = ChatAgent(Settings(), tools())
    made = [
        *await said(agent, "rename todo 5"),
        *await said(agent, reply),
        *await said(agent, "yes"),
    ]
    assert calls(made) == []
