"""Turns with a model: a scripted one on a real port, with tools over real MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from langchain_core.tools import tool

from agent import texts
from agent.chat_agent import ChatAgent
from agent.events import Done, Error, Event, ResponseDelta, Thinking, ToolCall
from agent.model import configured_model
from agent.prompt import WITHOUT_TOOLS, instructions
from agent.settings import Settings
from agent.states import AgentState
from tests.agent.inside.servers import Served, listing, served, small_server
from tests.agent.inside.test_breaker import Clock
from tests.agent.scripts import Script, calls, says
from tests.openai_server import Fault, OpenAiServer, openai_server

SCRIPT = Script(
    {
        "Say tea twice": [("double", {"word": "tea"})],
        "Say both twice": [("double", {"word": "a"}), ("double", {"word": "b"})],
        "Fail": [("fails", {})],
        "Hang": [("hangs", {})],
        "What time is it?": [("clock", {})],
        "Break": [("breaks", {})],
        "Dream": [("no_such_tool", {})],
    }
)


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


@tool
def breaks() -> str:
    """Breaks."""
    raise KeyError("inside")


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    with served(small_server()) as running:
        yield running


@pytest.fixture
def model() -> Iterator[OpenAiServer]:
    with openai_server(script=SCRIPT) as running:
        yield running


def agent_with(model: OpenAiServer, server: Served | None = None, **more: Any) -> ChatAgent:
    settings = Settings(
        mcp_url=server.url if server else None,
        model="openai:scripted",
        model_base_url=model.url,
        model_seconds=20,
    )
    return ChatAgent(settings, [clock, breaks], **more)


async def turn(agent: ChatAgent, message: str, thread_id: str = "t") -> list[Event]:
    return [event async for event in agent.stream(message, thread_id=thread_id, request_id="r-1")]


def done(events: list[Event]) -> Done:
    assert isinstance(events[-1], Done)
    return events[-1]


def kinds(events: list[Event]) -> list[str]:
    """What came in which order, repeats left out."""
    found = [
        f"{event.kind} {event.status}" if isinstance(event, ToolCall) else event.kind
        for event in events
    ]
    return [one for place, one in enumerate(found) if found[place - 1 : place] != [one]]


async def test_a_model_calls_a_tool_of_the_server_and_words_the_answer(
    model: OpenAiServer, small: Served
) -> None:
    # F1-10 F2-22 S1-033
    events = await turn(agent_with(model, small), "Say tea twice")
    assert kinds(events) == [
        "THINKING",
        "TOOL_CALL IN_PROGRESS",
        "TOOL_CALL COMPLETED",
        "THINKING",
        "RESPONSE_DELTA",
        "DONE",
    ]
    started, completed = (event for event in events if isinstance(event, ToolCall))
    assert started.data() == {
        "id": "call_0",
        "tool_name": "double",
        "status": "IN_PROGRESS",
        "args": {"word": "tea"},
    }
    assert completed.data() == {
        "id": "call_0",
        "tool_name": "double",
        "status": "COMPLETED",
        "result": "tea tea",
    }
    assert done(events) == Done("The tool says: tea tea", request_id="r-1", thread_id="t")
    deltas = [event.data()["text"] for event in events if event.kind == "RESPONSE_DELTA"]
    assert len(deltas) > 1
    assert "".join(deltas) == "The tool says: tea tea"


async def test_calls_of_one_tool_at_the_same_time_can_be_told_apart(
    model: OpenAiServer, small: Served
) -> None:
    # F2-22
    events = await turn(agent_with(model, small), "Say both twice")
    told = [event for event in events if isinstance(event, ToolCall)]
    words = {one.id: (one.args or {}).get("word") for one in told if one.args}
    results = {one.id: one.result for one in told if one.result}
    assert len(words) == 2
    assert results == {number: f"{word} {word}" for number, word in words.items()}


async def test_a_model_is_told_the_day_with_each_turn(model: OpenAiServer) -> None:
    days = iter([date(2026, 12, 31), date(2027, 1, 1)])
    agent = agent_with(model, today=lambda: next(days))
    await turn(agent, "Hello")
    await turn(agent, "Remind me tomorrow")
    first, second = (sent["messages"] for _, sent in model.requests)
    assert first[0] == {"role": "system", "content": instructions(date(2026, 12, 31))}
    assert first[0]["content"].endswith("Today is Thursday, 2026-12-31.")
    assert second[0]["content"].endswith("Today is Friday, 2027-01-01.")
    assert [one["role"] for one in second] == ["system", "user", "assistant", "user"]


async def test_every_tool_is_offered_to_the_model(model: OpenAiServer, small: Served) -> None:
    # F1-02 F1-10 S1-032
    await turn(agent_with(model, small), "Hello")
    offered = [one["function"]["name"] for one in model.requests[0][1]["tools"]]
    assert offered == ["clock", "breaks", "double", "fails", "hangs"]


@pytest.mark.parametrize(
    "written", ["Says words. " * 700, "x" * 8000], ids=["words", "without a blank"]
)
async def test_no_tool_is_described_at_more_length_than_every_model_takes(
    model: OpenAiServer, written: str
) -> None:
    # F1-10 F2-10
    schema = {"type": "object", "properties": {}}
    described = {"long": written, "just_so": "y" * 1024}
    listed = ({"name": n, "description": d, "inputSchema": schema} for n, d in described.items())
    with listing(*listed) as server:
        agent = ChatAgent(
            Settings(mcp_url=server.url, model="openai:scripted", model_base_url=model.url)
        )
    await turn(agent, "Hello")
    sent = [one["function"]["description"] for one in model.requests[0][1]["tools"]]
    assert len(sent[0]) in range(1000, 1025)
    assert sent[0].endswith(" …")
    assert written.startswith(sent[0].removesuffix(" …"))
    assert sent[1] == "y" * 1024


async def test_calls_of_tools_carry_the_ids_of_the_turn(model: OpenAiServer, small: Served) -> None:
    # F2-04
    before = len(small.asked("tools/call"))
    await turn(agent_with(model, small), "Say both twice")
    made = small.asked("tools/call")[before:]
    # The two are made at the same time, so either may come first.
    assert sorted(one["params"]["arguments"]["word"] for one in made) == ["a", "b"]
    assert {one["params"]["_meta"]["request_id"] for one in made} == {"r-1"}
    assert {one["params"]["_meta"]["thread_id"] for one in made} == {"t"}


async def test_a_conversation_is_remembered_without_what_tools_answered(
    model: OpenAiServer, small: Served
) -> None:
    # F2-07 C12
    agent = agent_with(model, small)
    await turn(agent, "Say tea twice")
    await turn(agent, "Thank you")
    await turn(agent, "Somebody else", "other")
    said = [(one["role"], one["content"]) for one in model.requests[-2][1]["messages"][1:]]
    assert said == [
        ("user", "Say tea twice"),
        ("assistant", "The tool says: tea tea"),
        ("user", "Thank you"),
    ]
    assert len(model.requests[-1][1]["messages"]) == 2


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Fail", "the drawer is stuck"),
        ("Break", texts.TOOL_FAILED),
        ("Dream", "no_such_tool is not a valid tool"),
    ],
)
async def test_a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on(
    model: OpenAiServer, small: Served, message: str, told: str
) -> None:
    # F2-22 S1-048
    events = await turn(agent_with(model, small), message)
    (failed,) = [one for one in events if isinstance(one, ToolCall) and one.status == "FAILED"]
    assert told in str(failed.error)
    assert told in done(events).final_output
    assert done(events).status == "ok"


async def test_a_server_lost_in_the_middle_is_told_and_the_agent_stays_alive(
    model: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S1-024 S1-048 F1-03 F1-11 F2-06 F2-10 C17
    # Once it is back it may be slow to greet.
    monkeypatch.setattr("agent.mcp_tools.GREETING_SECONDS", 20)
    with served(small_server()) as server:
        agent = agent_with(model, server)
        assert done(await turn(agent, "Say tea twice")).status == "ok"
    events = await turn(agent, "Say tea twice")
    assert [one.error for one in events if isinstance(one, Error)] == [texts.TOOLS_UNAVAILABLE]
    assert done(events).status == "degraded"
    assert texts.TOOLS_UNAVAILABLE in done(events).final_output
    assert done(await turn(agent, "What time is it?")).final_output == "The tool says: noon"
    with served(small_server(), server.port):
        assert done(await turn(agent, "Say tea twice")).final_output == "The tool says: tea tea"


async def test_a_tool_that_takes_too_long_degrades_the_turn(
    model: OpenAiServer, small: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # C10 C17
    monkeypatch.setattr("agent.mcp_tools.CALL_SECONDS", 0.2)
    events = await turn(agent_with(model, small), "Hang")
    assert [one.error for one in events if isinstance(one, Error)] == [texts.TOOL_TIMED_OUT]
    assert done(events).status == "degraded"


async def test_a_model_without_the_server_s_tools_is_told_and_the_turn_is_degraded(
    model: OpenAiServer, small: Served
) -> None:
    # F2-06 F2-10 C17
    with served(small_server()) as gone:
        pass
    events = await turn(agent_with(model, gone), "What time is it?")
    assert [one.error for one in events if isinstance(one, Error)] == [texts.TOOLS_UNAVAILABLE]
    assert (done(events).final_output, done(events).status) == ("The tool says: noon", "degraded")
    await turn(agent_with(model, small), "Hello")
    prompts = [sent["messages"][0]["content"] for _, sent in model.requests]
    assert [WITHOUT_TOOLS in prompt for prompt in prompts] == [True, True, False]


def with_tools(agent: ChatAgent) -> bool:
    return agent.state is AgentState.WITH_MCP


async def test_a_server_that_comes_up_later_is_found(model: OpenAiServer) -> None:
    # F2-10
    time = Clock()
    with served(small_server()) as server:
        pass
    agent = agent_with(model, server, clock=time)
    assert not with_tools(agent)
    with served(small_server(), server.port):
        assert done(await turn(agent, "What time is it?")).final_output == "The tool says: noon"
        assert not with_tools(agent)
        # The first turn that finds it due may not wait for it to the end.
        while not with_tools(agent):
            time.now += 10
            await turn(agent, "Hello")
        assert done(await turn(agent, "Say tea twice")).final_output == "The tool says: tea tea"


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(status=500), texts.MODEL_UNAVAILABLE),
        (Fault(drop=True), texts.MODEL_UNAVAILABLE),
        (Fault(status=429), texts.MODEL_UNAVAILABLE),
        (Fault(status=400), texts.MODEL_REFUSED),
        (Fault(status=413), texts.MODEL_REFUSED),
        (Fault(status=422), texts.MODEL_REFUSED),
        (Fault(status=401), texts.MODEL_MISCONFIGURED),
        (Fault(status=404), texts.MODEL_MISCONFIGURED),
        (Fault(garbage=b"<html>"), texts.MODEL_UNAVAILABLE),
        (Fault(cut=3, garbage=b"{no"), texts.MODEL_UNAVAILABLE),
    ],
)
async def test_a_model_that_fails_is_told_in_friendly_words(
    model: OpenAiServer, fault: Fault, text: str
) -> None:
    # F2-10 C17
    model.always = fault
    events = await turn(agent_with(model), "Hello")
    assert [one.error for one in events if isinstance(one, Error)] == [text]
    assert (done(events).final_output, done(events).status) == (text, "degraded")


@pytest.mark.parametrize(
    "fault", [Fault(hang=True), Fault(pause=60)], ids=["no answer", "no first piece"]
)
async def test_a_model_is_waited_for_as_long_as_the_settings_say(
    model: OpenAiServer, fault: Fault
) -> None:
    # F2-10 C17
    model.always = fault
    given = {"MODEL": "scripted", "MODEL_BASE_URL": model.url, "MODEL_TIMEOUT_SECONDS": "0.3"}
    agent = ChatAgent(Settings.from_environment(given))
    async with asyncio.timeout(20):
        events = await turn(agent, "Hello")
    assert (done(events).final_output, done(events).status) == (texts.MODEL_UNAVAILABLE, "degraded")
    assert agent.breaker.failures == 1


async def test_three_failures_of_the_model_open_its_breaker_for_sixty_seconds(
    model: OpenAiServer,
) -> None:
    # F2-10
    time = Clock()
    agent = agent_with(model, clock=time)
    model.always = Fault(garbage=b"<html>")
    for _ in range(3):
        assert done(await turn(agent, "Hello")).status == "degraded"
    model.always = None
    asked = len(model.requests)
    events = await turn(agent, "Hello")
    assert (done(events).final_output, len(model.requests)) == (texts.MODEL_UNAVAILABLE, asked)
    time.now += 60
    assert done(await turn(agent, "Hello")).final_output == "I heard: Hello"
    assert agent.breaker.state.value == "CLOSED"


TOO_LONG = {"message": "maximum context length exceeded", "code": "context_length_exceeded"}


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400, error={"error": TOO_LONG}),
        Fault(cut=1, garbage=json.dumps({"error": TOO_LONG}).encode()),
        Fault(status=401),
    ],
    ids=["too long", "too long in the stream", "wrong key"],
)
async def test_requests_that_a_model_refuses_take_it_from_nobody(
    model: OpenAiServer, fault: Fault
) -> None:
    # F2-10
    agent = agent_with(model)
    model.always = fault
    for _ in range(4):
        refused = done(await turn(agent, "All of it", "mine")).final_output
        assert refused in {texts.MODEL_REFUSED, texts.MODEL_MISCONFIGURED}
    assert (agent.breaker.state.value, agent.breaker.failures) == ("CLOSED", 0)
    model.always = None
    assert done(await turn(agent, "Hello", "yours")).final_output == "I heard: Hello"


async def test_a_refusal_does_not_end_the_one_try_of_an_open_breaker(model: OpenAiServer) -> None:
    time = Clock()
    agent = agent_with(model, clock=time)
    model.always = Fault(garbage=b"<html>")
    for _ in range(3):
        await turn(agent, "Hello")
    time.now += 60
    model.always = Fault(status=400)
    assert done(await turn(agent, "All of it")).final_output == texts.MODEL_REFUSED
    assert agent.breaker.state.value == "HALF-OPEN"
    model.always = None
    assert done(await turn(agent, "Hello")).final_output == "I heard: Hello"


async def test_whoever_leaves_in_the_middle_ends_the_turn(model: OpenAiServer) -> None:
    model.always = Fault(hang=True)
    agent = agent_with(model)
    task = asyncio.create_task(turn(agent, "Hello"))
    assert await asyncio.to_thread(model.under_way.wait, 20)
    task.cancel()
    assert await asyncio.to_thread(model.hung_up.wait, 20)
    model.always = None
    assert done(await turn(agent, "Hello")).final_output == "I heard: Hello"


async def test_arguments_that_are_no_json_are_told() -> None:
    function = {"name": "double", "arguments": "word = tea"}
    call = {"index": 0, "id": "call_0", "type": "function", "function": function}
    with openai_server(script=lambda sent: [{"tool_calls": [call]}]) as model:
        events = await turn(agent_with(model), "Say tea twice")
    (failed,) = [one for one in events if isinstance(one, ToolCall)]
    assert (failed.tool_name, failed.status) == ("double", "FAILED")
    assert done(events).final_output == texts.MODEL_SAID_NOTHING


async def test_a_model_that_never_stops_calling_tools_is_stopped() -> None:
    with openai_server(script=lambda sent: calls(("clock", {}))) as model:
        events = await turn(agent_with(model), "What time is it?")
    assert done(events).final_output == texts.TOO_MANY_STEPS
    assert len([one for one in events if isinstance(one, ToolCall)]) <= 2 * 11


async def test_what_a_tool_s_own_model_says_is_no_part_of_the_answer(model: OpenAiServer) -> None:
    # F2-22
    inner = configured_model(Settings(model="inner", model_base_url=model.url))
    assert inner is not None

    @tool
    async def oracle() -> str:
        """Asks another model."""
        return f"fog, {(await inner.ainvoke('What do you see?')).text}"

    model.script = Script({"Ask": [("oracle", {})]})
    settings = Settings(model="scripted", model_base_url=model.url)
    events = await turn(ChatAgent(settings, [oracle]), "Ask")
    answer = "The tool says: fog, I heard: What do you see?"
    assert "".join(one.text for one in events if isinstance(one, ResponseDelta)) == answer
    assert done(events).final_output == answer


async def test_text_before_a_call_is_no_part_of_the_answer(model: OpenAiServer) -> None:
    first = [*says("Let me see."), *calls(("clock", {}))]
    plain = model.script
    assert plain is not None
    model.script = lambda sent: plain(sent) if sent["messages"][-1]["role"] == "tool" else first
    events = await turn(agent_with(model), "When?")
    assert done(events).final_output == "The tool says: noon"
    assert isinstance(events[0], Thinking)
