"""Fixtures of 2026-07-28 that ask the client by answering "input required" and being called again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY

from tests.conformance.blocks import answered, text

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams | types.GetPromptRequestParams
Round = Callable[[Context, Params], dict[str, Any]]
Run = Callable[[Context, types.CallToolRequestParams], Awaitable[Any]]


def elicit(message: str, field: str, kind: str = "string") -> dict[str, Any]:
    """A form with one field."""
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def sample(prompt: str) -> dict[str, Any]:
    """A question for the client's model."""
    message = {"role": "user", "content": text(prompt)}
    params = {"messages": [message], "maxTokens": 100}
    return {"method": "sampling/createMessage", "params": params}


def ask(requests: Mapping[str, Any], state: str | None = None) -> dict[str, Any]:
    """An "input required" answer."""
    asked: dict[str, Any] = {"resultType": "input_required", "inputRequests": dict(requests)}
    if state is not None:
        asked["requestState"] = state
    return asked


def answers(params: Params) -> Mapping[str, Any]:
    """What the client answered, by key, as plain JSON."""
    given = params.input_responses or {}
    return {key: answer.model_dump(by_alias=True, mode="json") for key, answer in given.items()}


def done(words: str) -> dict[str, Any]:
    """The final answer of a tool."""
    return answered([text(words)])


def once(requests: Mapping[str, Any], *, state: str | None = None) -> Round:
    """A tool that asks until every question has an answer; `state` travels along and is checked."""

    def play(ctx: Context, params: Params) -> dict[str, Any]:
        given = answers(params)
        if not set(requests) <= set(given) or params.request_state != state:
            return ask(requests, state)
        return done(f"state-ok {given}" if state else f"Answered: {given}")

    return play


def two_steps(ctx: Context, params: Params) -> dict[str, Any]:
    """Asks for a name, then for a colour; what was said first travels in the state."""
    given = answers(params)
    if "step2" in given and params.request_state:
        return done(f"{params.request_state} likes {given['step2']}")
    if "step1" in given and params.request_state == "begun":
        return ask(
            {"step2": elicit("Step 2: What is your favorite color?", "color")},
            str(given["step1"]),
        )
    return ask({"step1": elicit("Step 1: What is your name?", "name")}, "begun")


def within_capabilities(ctx: Context, params: Params) -> dict[str, Any]:
    """Asks only for what the client says it can do."""
    able = ctx.session.client_capabilities or types.ClientCapabilities()
    wanted: dict[str, Any] = {}
    if able.sampling is not None:
        wanted["question"] = sample("Say hello")
    if able.elicitation is not None:
        wanted["name"] = elicit("What is your name?", "name")
    return ask(wanted)


def needs_sampling(ctx: Context, params: Params) -> dict[str, Any]:
    """Refuses clients without a model."""
    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs the client's model",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return done("The client has a model")


def prompt_with_context(ctx: Context, params: Params) -> dict[str, Any]:
    """A prompt that asks back before it is complete."""
    given = answers(params)
    if "user_context" not in given:
        return ask({"user_context": elicit("What context should the prompt use?", "context")})
    message = {"role": "user", "content": text(f"Context: {given['user_context']}")}
    return {"messages": [message], "resultType": "complete"}


async def ask_before_task(ctx: Context, params: types.CallToolRequestParams, run: Run) -> Any:
    """Asks for a name first; only the call that has it goes on to the catalogue and its tasks."""
    given = answers(params)
    if "user_name" not in given:
        return ask({"user_name": _NAME})
    name = given["user_name"]["content"]["name"]
    return await run(ctx, params.model_copy(update={"arguments": {"name": name}}))


ASKS_BEFORE_TASK: Final = "test_tool_with_task"
_NAME: Final = elicit("What is your name?", "name")
_ROOTS: Final = {"method": "roots/list", "params": {}}
_OK: Final = elicit("Please confirm", "ok", "boolean")
ROUNDS: Final[Mapping[str, Round]] = {
    "test_input_required_result_elicitation": once({"user_name": _NAME}),
    "test_input_required_result_sampling": once(
        {"capital_question": sample("What is the capital of France?")}
    ),
    "test_input_required_result_list_roots": once({"client_roots": _ROOTS}),
    "test_input_required_result_request_state": once({"confirm": _OK}, state="asked"),
    "test_input_required_result_multiple_inputs": once(
        {"user_name": _NAME, "greeting": sample("Generate a greeting"), "client_roots": _ROOTS},
        state="asked-all",
    ),
    "test_input_required_result_multi_round": two_steps,
    "test_input_required_result_tampered_state": once({"confirm": _OK}, state="sealed"),
    "test_input_required_result_capabilities": within_capabilities,
    "test_streaming_elicitation": once({"user_name": _NAME}),
    "test_missing_capability": needs_sampling,
}
PROMPT_ROUNDS: Final[Mapping[str, Round]] = {
    "test_input_required_result_prompt": prompt_with_context
}
