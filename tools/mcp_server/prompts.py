"""prompts/list, prompts/get and completion/complete."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from tools.errors import ControlPlaneError
from tools.execution import offerings
from tools.mcp_server.failures import protocol_error
from tools.mcp_server.older import known_to
from tools.mcp_server.paging import page_result
from tools.mcp_server.peer import current_peer


async def list_prompts(
    ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> dict[str, Any]:
    """One page of the prompts the caller may use."""
    try:
        specs = await offerings.list_prompts(current_peer.get().credentials)
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    names = [spec.name for spec in specs]
    wire = [spec.to_wire() for spec in specs]
    return page_result("prompts", names, wire, params)


async def get_prompt(
    ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
) -> dict[str, Any]:
    """A prompt with its arguments filled in."""
    try:
        rendered = await offerings.get_prompt(
            current_peer.get().credentials, params.name, params.arguments or {}
        )
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    messages = [
        {**message, "content": known_to(ctx.protocol_version, message["content"])}
        for message in rendered["messages"]
    ]
    return {**rendered, "messages": messages, "resultType": "complete"}


async def complete(
    ctx: ServerRequestContext[Any, Any], params: types.CompleteRequestParams
) -> dict[str, Any]:
    """Values that would fit an argument of a prompt or of a resource template."""
    try:
        completion = await offerings.complete(
            current_peer.get().credentials,
            params.ref.model_dump(by_alias=True, mode="json"),
            params.argument.name,
            params.argument.value,
            params.context.arguments if params.context is not None else None,
        )
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    return {"completion": completion, "resultType": "complete"}
