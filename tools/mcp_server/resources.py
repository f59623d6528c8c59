"""resources/*: what the catalogue holds for reading, and the whole of shortened answers."""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext

from tools.contracts import ResourceSpec
from tools.errors import ControlPlaneError, ErrorDetails, InvalidArguments
from tools.execution import offerings
from tools.mcp_server.failures import protocol_error
from tools.mcp_server.paging import page_result
from tools.mcp_server.peer import current_peer

# What one connection may follow at the same time.
MOST_FOLLOWED: Final = 1000
LONGEST_URI: Final = 4000


async def list_resources(
    ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> dict[str, Any]:
    """One page of the resources the caller may read."""
    try:
        specs = await offerings.list_resources(current_peer.get().credentials)
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    return _page("resources", specs, params)


async def list_templates(
    ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> dict[str, Any]:
    """One page of the addresses that take values."""
    try:
        specs = await offerings.list_resource_templates(current_peer.get().credentials)
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    return _page("resourceTemplates", specs, params)


async def read_resource(
    ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
) -> dict[str, Any]:
    """What is at an address."""
    try:
        contents = await offerings.read_resource(current_peer.get().credentials, str(params.uri))
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    return {"contents": list(contents), "resultType": "complete"}


async def subscribe(
    ctx: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
) -> types.EmptyResult:
    """Tell this connection when the resource changes.

    A connection without a stream of its own cannot be told; the request is taken all the same,
    since such clients learn of changes by the list-changed notices of their GET stream.
    """
    # The SDK offers the connection's state only through this attribute of the session.
    state = ctx.session._connection.state
    followed: set[str] = state.setdefault("subscribed_uris", set())
    if len(followed) >= MOST_FOLLOWED or len(str(params.uri)) > LONGEST_URI:
        raise protocol_error(
            InvalidArguments(
                "Invalid parameter: uri",
                ErrorDetails(
                    parameter="uri",
                    expected=f"at most {MOST_FOLLOWED} addresses of {LONGEST_URI} characters",
                    suggestion="Unsubscribe from what is no longer needed",
                ),
            )
        )
    followed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(
    ctx: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
) -> types.EmptyResult:
    """Stop telling this connection about the resource."""
    state = ctx.session._connection.state
    state.setdefault("subscribed_uris", set()).discard(str(params.uri))
    return types.EmptyResult()


def _page(
    name: str,
    specs: tuple[ResourceSpec, ...],
    params: types.PaginatedRequestParams | None,
) -> dict[str, Any]:
    keys = [spec.uri for spec in specs]
    wire = [spec.to_wire() for spec in specs]
    return page_result(name, keys, wire, params)
