"""Turns without a model: what is asked back, and how that is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from langchain_core.tools import BaseTool, tool
from mcp.server.fastmcp import FastMCP
from pydantic import Field

from agent import texts
from agent.chat_agent import ChatAgent
from agent.history import LONGEST_TEXT, History, Turn
from agent.settings import Settings
from tests.agent.inside.servers import listing, served


class Clock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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
        ("Delete a todo", "please, the todo 3, thanks", ("delete_todo", 3)),
        ("Create a todo", "Buy milk", ("create_todo", "Buy milk")),
        (
            "Create a todo",
            "Call Ann about the stop sign",
            ("create_todo", "Call Ann about the stop sign"),
        ),
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


@pytest.mark.parametrize(
    "reply",
    [
        *("yes", "Yes, please.", "ok", "go ahead", "Yes! Do it.", "yes, delete it", "please do"),
        *(
            "yes do it now",
            "confirm, thank you very much",
            "yes delete todo 17",
            "Yes, please delete it!",
        ),
    ],
)
async def test_a_doubtful_deletion_is_made_after_a_plain_yes(reply: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    asked = await agent.reply("delete 17", thread_id="t")
    assert "Shall I call delete_todo with todo_id 17? Say yes, or say what you want" in asked
    assert made == []
    await agent.reply(reply, thread_id="t")
    assert made == [("delete_todo", 17)]


@pytest.mark.parametrize(
    "reply",
    [
        *("no", "yes but not now", "yes if it is done", "hm", "not 17", "why?", "what?", "yes?"),
        *(
            "yes, keep it",
            "yes, delete it tomorrow",
            "yes, delete it if it is done",
            "please don't",
        ),
    ],
)
async def test_anything_but_a_yes_drops_the_question(reply: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("delete 17", thread_id="t")
    assert await agent.reply(reply, thread_id="t") == texts.DROPPED
    await agent.reply("yes", thread_id="t")
    assert made == []


async def test_another_order_takes_the_place_of_the_question() -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("delete 17", thread_id="t")
    await agent.reply("delete todo 18", thread_id="t")
    assert made == [("delete_todo", 18)]


async def test_a_yes_in_another_conversation_agrees_to_nothing() -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("delete 17", thread_id="t")
    await agent.reply("yes", thread_id="u")
    assert made == []


@pytest.mark.parametrize(
    "reply",
    [
        *("not 7", "all 7", "any but 7", "except 7", "7 or 8", "before 7", "7 if it is done", "-7"),
        *("half 7", "unlike 7", "total 7", "customer 7", "no, 7"),
    ],
)
async def test_no_number_is_taken_out_of_a_sentence_to_delete(reply: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Delete a todo", thread_id="t")
    await agent.reply(reply, thread_id="t")
    assert made == []


@pytest.mark.parametrize(
    "first",
    [
        *("delete a todo if it is done", "delete a todo tomorrow", "delete all todos"),
        *("delete a todo on Bob's list", "delete a todo, or don't", "the plan is to delete a todo"),
    ],
)
async def test_a_number_takes_no_doubt_from_the_order(first: str) -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply(first, thread_id="t")
    assert "Shall I call delete_todo with todo_id 7" in await agent.reply("7", thread_id="t")
    assert made == []
    await agent.reply("yes", thread_id="t")
    assert made == [("delete_todo", 7)]


async def test_the_name_of_another_thing_tells_no_number() -> None:
    made: list[int] = []

    @tool
    def cancel_subscription(customer_id: int) -> str:
        """Cancels the subscription of a customer."""
        made.append(customer_id)
        return "cancelled"

    agent = ChatAgent(Settings(), [cancel_subscription])
    for reply in ("invoice 7", "subscription 7", "half 7"):
        await agent.reply("cancel a subscription", thread_id="t")
        await agent.reply(reply, thread_id="t")
    assert made == []
    await agent.reply("cancel a subscription", thread_id="t")
    await agent.reply("customer 7", thread_id="t")
    assert made == [7]


@pytest.mark.parametrize(
    "reply",
    [
        *("yes", "ok", "why?", "What is the weather?", "hmm, actually forget it"),
        *(
            "sorry, wrong window",
            "no thanks",
            "not now",
            "never mind, thanks",
            "what do you mean",
            "   ",
        ),
    ],
)
async def test_no_text_is_made_of_what_is_said_to_the_agent(reply: str) -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Create a todo", thread_id="t")
    await agent.reply(reply, thread_id="t")
    assert made == []


async def test_a_yes_where_a_text_is_wanted_is_asked_for_the_text_again() -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Create a todo", thread_id="t")
    assert "Please tell also:\n- title" in await agent.reply("yes", thread_id="t")
    await agent.reply("Buy milk", thread_id="t")
    assert made == [("create_todo", "Buy milk")]


@pytest.mark.parametrize("reply", ["Keep the receipts", "wait for the plumber", "Stop smoking"])
async def test_a_text_that_sounds_like_a_refusal_is_asked_about(reply: str) -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Create a todo", thread_id="t")
    asked = await agent.reply(reply, thread_id="t")
    assert f'Shall I call create_todo with title "{reply}"?' in asked
    await agent.reply("yes", thread_id="t")
    assert made == [("create_todo", reply)]


async def test_a_text_that_the_schema_refuses_is_not_taken() -> None:
    made: list[str] = []

    @tool
    def create_room(name: Annotated[str, Field(pattern="^[A-Z][0-9]{3}$")]) -> str:
        """Creates a room."""
        made.append(name)
        return "created"

    agent = ChatAgent(Settings(), [create_room])
    await agent.reply("Create a room", thread_id="t")
    assert "Please tell also:\n- name" in await agent.reply("the big one", thread_id="t")
    assert made == []


async def test_a_question_is_not_open_for_ever() -> None:
    made: list[tuple[str, Any]] = []
    clock = Clock()
    agent = ChatAgent(Settings(), todos(made), clock=clock)
    await agent.reply("delete 17", thread_id="t")
    clock.now += 601
    assert "None fits" in await agent.reply("yes", thread_id="t")
    await agent.reply("delete 18", thread_id="t")
    clock.now += 599
    await agent.reply("yes", thread_id="t")
    assert made == [("delete_todo", 18)]


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("delete todos 5, 6 and 7", "6 and 7"),
        ("delete 5, 6", "6"),
        ("delete todo 5 or 6", "6"),
        ("delete todo 5 and keep 8", "8"),
        (
            f"delete todos {', '.join(map(str, range(5, 18)))}",
            f"{', '.join(map(str, range(6, 16)))} and 2 more",
        ),
    ],
)
async def test_who_names_several_is_told_that_one_is_deleted(message: str, left: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    assert await agent.reply(message, thread_id="t") == (
        f"{texts.NO_MODEL} {texts.ONE_CALL} Shall I call delete_todo with todo_id 5 and do nothing else? "
        f"This leaves out {left}. Say yes, or say what you want instead."
    )
    await agent.reply("yes", thread_id="t")
    assert made == [("delete_todo", 5)]


@pytest.mark.parametrize("reply", ["yes, all of them", "all", "yes, 6 and 7 too", "both"])
async def test_a_yes_to_more_than_was_asked_does_nothing(reply: str) -> None:
    # F2-14
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("delete todos 5, 6 and 7", thread_id="t")
    assert await agent.reply(reply, thread_id="t") == texts.DROPPED
    assert made == []


@pytest.mark.parametrize(
    "message", ["delete all todos", "delete the first 3 todos", "delete every todo"]
)
async def test_who_wants_all_deleted_is_told_that_one_call_is_made(message: str) -> None:
    agent = ChatAgent(Settings(), todos([]))
    asked = await agent.reply(message, thread_id="t")
    assert f"{texts.ONE_CALL} This one would be delete_todo." in asked
    assert "Please tell also:\n- todo_id" in asked


async def test_a_day_that_a_call_cannot_keep_is_named() -> None:
    agent = ChatAgent(Settings(), todos([]))
    asked = await agent.reply("delete todo 5 tomorrow", thread_id="t")
    assert "Shall I call delete_todo with todo_id 5? This leaves out tomorrow." in asked


async def test_what_is_known_of_a_call_is_said_where_more_is_asked_for() -> None:
    @tool
    def update_todo(todo_id: int, title: str = "") -> str:
        """Updates a todo."""
        return "updated"

    agent = ChatAgent(Settings(), [update_todo])
    asked = await agent.reply("rename todo 5", thread_id="t")
    assert "This one would be update_todo with todo_id 5." in asked


@pytest.mark.parametrize("reply", ["7", "#7", "todo 7", "task 7", "number 7 please", "The id 7."])
async def test_a_plain_number_tells_what_to_delete(reply: str) -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Delete a todo", thread_id="t")
    await agent.reply(reply, thread_id="t")
    assert made == [("delete_todo", 7)]


async def test_a_correction_is_no_title() -> None:
    made: list[tuple[str, Any]] = []
    agent = ChatAgent(Settings(), todos(made))
    await agent.reply("Delete a todo", thread_id="t")
    assert "title" in await agent.reply("sorry I meant create a todo", thread_id="t")
    await agent.reply("Buy milk", thread_id="t")
    assert made == [("create_todo", "Buy milk")]


async def test_an_update_without_a_change_is_asked_for_one() -> None:
    made: list[tuple[int, str]] = []

    @tool
    def update_todo(todo_id: int, title: str = "") -> str:
        """Updates a todo."""
        made.append((todo_id, title))
        return "updated"

    agent = ChatAgent(Settings(), [update_todo])
    asked = await agent.reply("rename todo 5", thread_id="t")
    assert "Please tell what to change, one of these:\n- title" in asked
    assert made == []
    await agent.reply("to Buy bread", thread_id="t")
    assert made == [(5, "Buy bread")]


@pytest.mark.parametrize(
    ("hints", "asks"),
    [({}, True), ({"readOnlyHint": False}, True), ({"readOnlyHint": True}, False)],
)
async def test_what_the_server_says_of_a_tool_decides_whether_it_is_asked_about(
    hints: dict[str, bool], asks: bool
) -> None:
    # F2-14
    schema = {"type": "object", "properties": {}}
    described = {"name": "bird_figures", "description": "Figures of the birds."}
    with listing({**described, "inputSchema": schema, "annotations": hints}) as at:
        agent = ChatAgent(Settings(mcp_url=at.url))
        answer = await agent.reply("show the bird figures", thread_id="t")
    assert ("Shall I call bird_figures?" in answer) is asks


@pytest.mark.parametrize("message", ["What is the weather in Oslo?", "show the weather in Oslo"])
async def test_a_tool_that_only_tells_what_it_is_named_for_is_not_asked_about(message: str) -> None:
    # F2-14
    @tool
    def weather(city: str) -> str:
        """Current weather for a city."""
        return f"rain in {city}"

    assert "rain in Oslo" in await ChatAgent(Settings(), [weather]).reply(message, thread_id="t")


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


async def test_both_events_of_a_call_have_one_id() -> None:
    # F2-22
    agent = ChatAgent(Settings(), todos([]))
    events = [event async for event in agent.stream("delete todo 17", request_id="r-1")]
    assert [one.data().get("id") for one in events if one.kind == "TOOL_CALL"] == ["r-1", "r-1"]


def alike(found: str) -> FastMCP:
    """Two tools that nothing tells apart, and a search that does."""
    mcp = FastMCP("alike", stateless_http=True)

    @mcp.tool(description="Gives the report.")
    def get_report_a() -> str:
        return "the first"

    @mcp.tool(description="Gives the report.")
    def get_report_b() -> str:
        return "the second"

    @mcp.tool()
    def tool_search(query: str) -> dict[str, Any]:
        """Finds tools."""
        return {"tools": [{"name": "unknown"}, {"name": found}, {"other": 1}]}

    return mcp


@pytest.mark.parametrize(
    ("found", "answer"), [("get_report_a", "the first"), ("get_report_b", "the second")]
)
async def test_what_the_server_finds_decides_between_tools_that_look_alike(
    found: str, answer: str
) -> None:
    # F2-14
    with served(alike(found)) as server:
        told = await ChatAgent(Settings(mcp_url=server.url)).reply("Get the report")
        searched, called = (one["params"] for one in server.asked("tools/call"))
    assert f"Picked {found}." in told
    assert "search +" in told
    assert answer in told
    assert (searched["name"], searched["arguments"]) == ("tool_search", {"query": "Get the report"})
    assert called["name"] == found
