"""Asking a client's user: real clients of the SDK, and a server that asks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server import Server

from tools.contracts import CallerKind, Credentials, Transport
from tools.errors import ExecutionFailed
from tools.mcp_server.asking import asking_of, round_of, takes_questions
from tools.mcp_server.peer import Peer, current_peer

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "What is your name?", "requestedSchema": SCHEMA},
}


def server(transport: Transport, questions: Mapping[str, Any]) -> Server[Any]:
    """Its one tool asks the questions while it runs, and answers with what came of it."""

    async def call(ctx: Any, params: Any) -> types.CallToolResult:
        current_peer.set(Peer(Credentials(CallerKind.ANONYMOUS), transport))
        ask = asking_of(ctx)
        told: dict[str, Any] = {"can": ask is not None, "takes": takes_questions(ctx)}
        try:
            told["answers"] = None if ask is None else await ask(questions)
        except ExecutionFailed as failed:
            told["error"] = failed.message
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(told))],
        )

    async def tools(ctx: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {}}
        return types.ListToolsResult(tools=[types.Tool(name="ask", input_schema=schema)])

    return Server("asking", on_call_tool=call, on_list_tools=tools)


@asynccontextmanager
async def told_to(
    *,
    mode: Any = "legacy",
    transport: Transport = Transport.WEBSOCKET,
    user: Any = None,
    questions: Mapping[str, Any] | None = None,
) -> AsyncIterator[dict[str, Any]]:
    """What the tool of a server tells a client whose user is `user`."""
    asking = server(transport, questions or {"who": QUESTION})
    async with Client(asking, mode=mode, elicitation_callback=user) as client:
        result = await client.call_tool("ask", {})
        content = result.content[0]
        assert isinstance(content, types.TextContent)
        yield json.loads(content.text)


async def ada(ctx: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def refuses(ctx: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="decline")


async def fails(ctx: Any, params: Any) -> types.ErrorData:
    return types.ErrorData(code=-32603, message="no window")


@pytest.mark.parametrize("transport", [Transport.STDIO, Transport.SSE, Transport.WEBSOCKET])
async def test_a_user_of_the_handshake_era_answers_while_the_call_runs(
    transport: Transport,
) -> None:
    questions = {"who": QUESTION, "again": QUESTION}
    async with told_to(user=ada, transport=transport, questions=questions) as told:
        answer = {"action": "accept", "content": {"name": "Ada"}}
        assert told["answers"] == {"who": answer, "again": answer}
        assert told["takes"] is False


async def test_a_refusal_is_an_answer() -> None:
    async with told_to(user=refuses) as told:
        assert told["answers"] == {"who": {"action": "decline"}}


async def test_a_client_without_elicitation_is_not_asked() -> None:
    async with told_to() as told:
        assert told == {"can": False, "takes": False, "answers": None}


async def test_over_streamable_http_nobody_is_asked_while_the_call_runs() -> None:
    async with told_to(user=ada, transport=Transport.STREAMABLE_HTTP) as told:
        assert told["can"] is False


@pytest.mark.parametrize("user", [ada, None])
async def test_later_clients_take_questions_only_as_answers(user: Any) -> None:
    async with told_to(mode="auto", user=user) as told:
        assert told == {"can": False, "takes": user is not None, "answers": None}


async def test_a_client_that_does_not_answer_ends_the_call_with_words() -> None:
    async with told_to(user=fails) as told:
        assert told["error"] == "The client did not answer what the tool asked"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            {"method": "sampling/createMessage", "params": {}},
            "The tool needs something that this client cannot be asked for",
        ),
        (
            {"method": "elicitation/create", "params": {"message": 7}},
            "The client did not answer what the tool asked",
        ),
    ],
)
async def test_questions_of_another_kind_are_not_passed_on(question: Any, words: str) -> None:
    async with told_to(user=ada, questions={"it": question}) as told:
        assert told["error"] == words


def test_answers_that_come_with_a_call_are_taken_as_written() -> None:
    first = types.CallToolRequestParams(name="ask")
    assert round_of(first) is None
    given = types.CallToolRequestParams.model_validate(
        {
            "name": "ask",
            "inputResponses": {"who": {"action": "accept", "content": {"name": "Ada"}}},
            "requestState": "state",
        }
    )
    found = round_of(given)
    assert found is not None
    assert found.state == "state"
    assert found.responses == {"who": {"action": "accept", "content": {"name": "Ada"}}}
    stateless = round_of(types.CallToolRequestParams(name="ask", request_state="s"))
    assert stateless is not None
    assert (stateless.responses, stateless.state) == ({}, "s")
