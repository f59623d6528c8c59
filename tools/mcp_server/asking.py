"""Asking the client's user something while a call runs, or by way of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from tools.contracts import Asking, Round, Transport
from tools.errors import ErrorDetails, ExecutionFailed
from tools.mcp_server import questions
from tools.mcp_server.cancellations import caller_now
from tools.mcp_server.peer import current_peer

Context = ServerRequestContext[Any, Any]

# Sends a question, as method and params, and gives the result.
Put = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]

ELICIT: Final = "elicitation/create"


def asking_of(ctx: Context) -> Asking | None:
    """How the client can be asked while its call runs, if it can.

    That takes the handshake era, since later clients take questions only as answers. Over
    Streamable HTTP what a client declared is not in the connection, which is there for one message.
    """
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    put: Put
    if current_peer.get().transport is Transport.STREAMABLE_HTTP:
        if not questions.can_be_asked(ctx.request):
            return None
        # Found out now: servers ask in tasks of their own, which know of no caller.
        put = partial(questions.ask, ctx.request, caller_now())
    elif _declares_elicitation(ctx):
        put = partial(_put_on_connection, ctx)
    else:
        return None

    async def ask(requests: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        return {name: await _ask(put, request) for name, request in requests.items()}

    return ask


def takes_questions(ctx: Context) -> bool:
    """Whether questions are an answer that the client can do something with."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and _declares_elicitation(ctx)


def round_of(params: types.CallToolRequestParams) -> Round | None:
    """The answers that come with a call, if it is not the first leg of one."""
    given = params.input_responses
    if given is None and params.request_state is None:
        return None
    responses = {
        name: answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        for name, answer in (given or {}).items()
    }
    return Round(responses, params.request_state)


def _declares_elicitation(ctx: Context) -> bool:
    declared = ctx.session.client_capabilities
    return declared is not None and declared.elicitation is not None


async def _ask(put: Put, request: Mapping[str, Any]) -> dict[str, Any]:
    """One answer of the client.

    Raises:
        ExecutionFailed: it is asked for something else than its user's words, or does not answer.
    """
    if request.get("method") != ELICIT:
        raise ExecutionFailed(
            "The tool needs something that this client cannot be asked for",
            ErrorDetails(expected=f"only {ELICIT}"),
        )
    try:
        question = types.ElicitRequest.model_validate(dict(request))
        given = await put(question.model_dump(by_alias=True, mode="json", exclude_none=True))
        answer = types.ElicitResult.model_validate(given, by_name=False)
    except (MCPError, ValidationError) as fault:
        raise ExecutionFailed("The client did not answer what the tool asked") from fault
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


async def _put_on_connection(ctx: Context, question: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = await ctx.session.send_request(
        types.ElicitRequest.model_validate(dict(question)),
        types.ElicitResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)
