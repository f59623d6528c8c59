"""tools/call: a message in, one call of the path, the result out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from tools.contracts import Caller, Progress, ToolCall, usable_id
from tools.execution import execute
from tools.execution.ending import cancel_once
from tools.mcp_server.asking import asking_of, round_of, takes_questions
from tools.mcp_server.cancellations import cancellable
from tools.mcp_server.peer import current_peer
from tools.mcp_server.progress import reporting
from tools.mcp_server.results import call_result
from tools.tracing import trace_of

# How long a cancelled call may take to give back what it holds.
CLOSING_SECONDS: Final = 5
_T = TypeVar("_T")


async def call_tool(
    ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> dict[str, Any]:
    """Run one call. Cancelling the message, or hanging up, cancels the call."""
    async with reporting(ctx) as progress:
        made = replace(
            tool_call(ctx, params, progress),
            asking=asking_of(ctx),
            in_rounds=takes_questions(ctx),
            round=round_of(params),
        )
        call = asyncio.create_task(execute(made))
        with cancellable(ctx, call):
            envelope = await undisturbed(call)
    return call_result(envelope, ctx.protocol_version)


async def undisturbed(work: Coroutine[Any, Any, _T] | asyncio.Task[_T]) -> _T:
    """Await `work`; when cancelled, cancel it once and let it close its books.

    The SDK's scopes cancel a task again at every await. The path cleans up with awaits (slots,
    journal), so it runs in a task of its own, out of their reach.
    """
    running = work if isinstance(work, asyncio.Task) else asyncio.create_task(work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if running.cancelled():
            # By a message of its client, which waits for no answer but must not wait for ever.
            raise MCPError(types.INVALID_REQUEST, "The call was cancelled") from None
        cancel_once(running)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([running], timeout=CLOSING_SECONDS)
        raise


def tool_call(
    ctx: ServerRequestContext[Any, Any],
    params: types.CallToolRequestParams,
    progress: Progress | None = None,
) -> ToolCall:
    """The call a message asks for."""
    headers = getattr(ctx.request, "headers", {})
    trace = trace_of(ctx.meta or {}, headers)
    return call_of(params.name, params.arguments or {}, ctx.meta or {}, progress, trace)


def call_of(
    tool: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any],
    progress: Progress | None = None,
    trace: Mapping[str, str] | None = None,
    *,
    caller: Caller | None = None,
    in_rounds: bool = False,
) -> ToolCall:
    """A call by the current peer; `meta` may name it."""
    peer = current_peer.get()
    named, correlation_id = usable_id(meta.get("request_id")), usable_id(meta.get("correlation_id"))
    return ToolCall(
        tool=tool,
        arguments=arguments,
        credentials=peer.credentials,
        transport=peer.transport,
        request_id=_version_4(named or correlation_id) or uuid.uuid4(),
        correlation_id=correlation_id or named,
        thread_id=usable_id(meta.get("thread_id")),
        progress=progress,
        caller=caller,
        in_rounds=in_rounds,
        trace=trace or {},
    )


def _version_4(text: str) -> uuid.UUID | None:
    if not text:
        return None
    try:
        parsed = uuid.UUID(text)
    except ValueError:
        return None
    return parsed if parsed.version == 4 and str(parsed) == text.lower() else None
