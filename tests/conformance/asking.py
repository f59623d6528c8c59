"""Fixtures that talk to the client: a greeting, and what the handshake era can ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata

from tests.conformance.blocks import text

Context = ServerRequestContext[Any, Any]
Asking = Callable[[Context, Mapping[str, Any]], Awaitable[list[dict[str, Any]]]]


async def log_three_times(ctx: Context, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Three log messages while the call runs."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        params = types.LoggingMessageNotificationParams(level="info", data=words)
        await ctx.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=ctx.request_id
        )
        await asyncio.sleep(0.05)
    return [text("Logged three times")]


async def sample(ctx: Context, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask the client's model."""
    message = types.SamplingMessage(
        role="user", content=types.TextContent(text=arguments["prompt"])
    )
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    answer = await ctx.session.send_request(
        types.CreateMessageRequest(params=params),
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    said = answer.content.text if isinstance(answer.content, types.TextContent) else ""
    return [text(f"LLM response: {said}")]


async def greet(ctx: Context, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A greeting in plain words; the catalogue's tools answer in JSON."""
    return [text(f"Hello, {arguments['name']}!")]


def form(message: str, properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> Asking:
    """A fixture that shows the user a form; `{message}` stands for its argument."""
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}

    async def ask(ctx: Context, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        answer = await ctx.session.elicit_form(
            message.format_map(arguments), schema, related_request_id=ctx.request_id
        )
        return [text(f"Elicitation completed: action={answer.action}, content={answer.content}")]

    return ask


_OPTIONS: Final = ["option1", "option2", "option3"]
_TITLED: Final = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
ASKING: Final[Mapping[str, Asking]] = {
    "greet": greet,
    "test_tool_with_logging": log_three_times,
    "test_sampling": sample,
    "test_elicitation": form(
        "{message}",
        {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        ("username", "email"),
    ),
    "test_elicitation_sep1034_defaults": form(
        "Please review and update the form",
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        },
    ),
    "test_elicitation_sep1330_enums": form(
        "Please choose",
        {
            "untitledSingle": {"type": "string", "enum": _OPTIONS},
            "titledSingle": {"type": "string", "oneOf": _TITLED},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
            "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
        },
    ),
}
