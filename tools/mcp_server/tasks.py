"""Long calls as tasks: the extension io.modelcontextprotocol/tasks of protocol 2026-07-28.

A client that declares the extension with its call is answered at once when the tool may take long,
and asks with tasks/get until the task is over. All others wait for the result, as ever. The shapes
are written down in docs/reference/tasks.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tools.contracts import Envelope, Transport, wire_time
from tools.errors import ControlPlaneError, McpKind
from tools.execution import deferred
from tools.execution.deferred import TaskView
from tools.mcp_server.calls import tool_call, undisturbed
from tools.mcp_server.failures import error_body, protocol_error
from tools.mcp_server.peer import current_peer
from tools.mcp_server.results import call_result

EXTENSION: Final = "io.modelcontextprotocol/tasks"
Context = ServerRequestContext[Any, Any]
Handler = Callable[[Context, Any], Awaitable[dict[str, Any]]]
SdkHandler = Callable[[Context, Any], Awaitable[HandlerResult]]


class TaskParams(types.RequestParams):
    """Params of tasks/get and tasks/cancel."""

    task_id: str


class UpdateTaskParams(TaskParams):
    """Params of tasks/update: answers to what the task asked its client for."""

    input_responses: dict[str, Any]


def install(server: Server[Any]) -> None:
    """Let `server` answer long calls with tasks, and say that it does."""
    entry = server.get_request_handler("tools/call")
    if entry is None:
        raise ValueError("the server calls no tools")
    server.extensions[EXTENSION] = {}
    server.add_request_handler(
        "tools/call", types.CallToolRequestParams, _as_task_or(entry.handler)
    )
    listen = server.get_request_handler("subscriptions/listen")
    if listen is not None:
        server.add_request_handler(
            "subscriptions/listen",
            types.SubscriptionsListenRequestParams,
            _refusing_task_ids(listen.handler),
        )
    server.add_request_handler("tasks/get", TaskParams, _for_clients_with_tasks(get_task))
    server.add_request_handler(
        "tasks/update", UpdateTaskParams, _for_clients_with_tasks(update_task)
    )
    server.add_request_handler("tasks/cancel", TaskParams, _for_clients_with_tasks(cancel_task))


def declares_tasks(ctx: Context) -> bool:
    """Whether the client declared the extension with this message."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    capabilities = ctx.session.client_capabilities
    return EXTENSION in ((capabilities and capabilities.extensions) or {})


def _askable(ctx: Context) -> frozenset[str]:
    """The methods by which the client said it may be asked."""
    declared = ctx.session.client_capabilities or types.ClientCapabilities()
    methods = {
        "elicitation/create": declared.elicitation,
        "sampling/createMessage": declared.sampling,
        "roots/list": declared.roots,
    }
    return frozenset(method for method, capability in methods.items() if capability is not None)


async def maybe_task(ctx: Context, params: types.CallToolRequestParams) -> dict[str, Any] | None:
    """The answer to a call that became a task or may not become one. None: run it now.

    Raises:
        MCPError: when the tool runs only as a task and the client knows no tasks.
    """
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return None
    if not declares_tasks(ctx):
        if deferred.may_need_task(params.name) and await deferred.needs_task(
            tool_call(ctx, params)
        ):
            raise _missing_capability()
        return None
    call = replace(tool_call(ctx, params), askable=_askable(ctx))
    started = await undisturbed(deferred.start_task(call))
    if isinstance(started, Envelope):
        return call_result(started, ctx.protocol_version)
    if started is None:
        return None
    meta = {"request_id": str(call.request_id)}
    return {"resultType": "task", **_task(started), "_meta": meta}


async def get_task(ctx: Context, params: TaskParams) -> dict[str, Any]:
    """tasks/get: the task as it stands, with its result or error once it is over."""
    view = await _reached(deferred.read_task(current_peer.get().credentials, params.task_id))
    if view is None:
        raise _not_found(params.task_id)
    wire = {"resultType": "complete", **_task(view)}
    if view.fault is not None:
        return {**wire, **_failed({**error_body(view.fault), "code": types.INTERNAL_ERROR})}
    if view.requests:
        return {**wire, "inputRequests": dict(view.requests)}
    if view.answer is None:
        return wire
    failure = view.answer.failure
    if failure is not None and failure.mcp_kind is McpKind.PROTOCOL:
        error = protocol_error(failure, str(view.answer.request_id)).error
        return {**wire, **_failed(error.model_dump(exclude_none=True))}
    result = call_result(view.answer, ctx.protocol_version)
    return {**wire, "result": {"resultType": "complete", **result}}


async def update_task(ctx: Context, params: UpdateTaskParams) -> dict[str, Any]:
    """tasks/update: answers to what the task asked for; others are dropped."""
    answering = deferred.answer_task(
        current_peer.get().credentials, params.task_id, params.input_responses
    )
    if not await _reached(answering):
        raise _not_found(params.task_id)
    return {"resultType": "complete"}


async def cancel_task(ctx: Context, params: TaskParams) -> dict[str, Any]:
    """tasks/cancel: stops the work soon; a task that is over stays as it is."""
    credentials = current_peer.get().credentials
    if not await _reached(undisturbed(deferred.cancel_task(credentials, params.task_id))):
        raise _not_found(params.task_id)
    return {"resultType": "complete"}


def _as_task_or(run: SdkHandler) -> SdkHandler:
    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> HandlerResult:
        answer = await maybe_task(ctx, params)
        return answer if answer is not None else await run(ctx, params)

    return call_tool


def _refusing_task_ids(listen: SdkHandler) -> SdkHandler:
    """News of tasks are not sent, which the acknowledgement shows; strangers to tasks are told."""

    async def checked(
        ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> HandlerResult:
        if (params.notifications.model_extra or {}).get("taskIds") and not declares_tasks(ctx):
            raise _missing_capability()
        return await listen(ctx, params)

    return checked


def _for_clients_with_tasks(serve: Handler) -> Handler:
    """`serve` behind what all three methods ask of a message."""

    async def checked(ctx: Context, params: TaskParams) -> dict[str, Any]:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
        if not declares_tasks(ctx):
            raise _missing_capability()
        _check_header(ctx, params.task_id)
        return await serve(ctx, params)

    return checked


def _check_header(ctx: Context, task_id: str) -> None:
    """Proxies route by this header, so it must say the same as the message."""
    if current_peer.get().transport is not Transport.STREAMABLE_HTTP or ctx.request is None:
        return
    if decode_header_value(ctx.request.headers.get(MCP_NAME_HEADER)) != task_id:
        raise MCPError(
            types.HEADER_MISMATCH,
            f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter",
        )


async def _reached(asking: Awaitable[Any]) -> Any:
    try:
        return await asking
    except ControlPlaneError as error:
        if error.mcp_kind is McpKind.PROTOCOL:
            raise protocol_error(error) from error
        raise MCPError(types.INTERNAL_ERROR, error.message, error.details.to_wire()) from error


def _task(view: TaskView) -> dict[str, Any]:
    wire = {
        "taskId": view.task_id,
        "status": view.status.value,
        "createdAt": wire_time(view.created_at),
        "lastUpdatedAt": wire_time(view.updated_at),
        "ttlMs": view.ttl_ms,
        "pollIntervalMs": view.poll_ms,
    }
    return {**wire, "statusMessage": view.note} if view.note else wire


def _failed(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"statusMessage": error["message"], "error": dict(error)}


def _missing_capability() -> MCPError:
    required: dict[str, Any] = {"extensions": {EXTENSION: {}}}
    return MCPError(
        types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        f"The client must declare the extension {EXTENSION} with this request",
        {"requiredCapabilities": required},
    )


def _not_found(task_id: str) -> MCPError:
    return MCPError(
        types.INVALID_PARAMS,
        "Task not found",
        {
            "parameter": "taskId",
            "value": task_id[:128],
            "suggestion": "Make the call again; tasks expire, and belong to whoever made the call",
        },
    )
