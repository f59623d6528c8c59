"""tools/list: the catalogue as MCP shows it, put together once per version of the catalogue."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server.context import ServerRequestContext

from tools.contracts import ToolSpec
from tools.errors import ControlPlaneError
from tools.execution.identity import identify
from tools.execution.lookup import Directory
from tools.execution.runtime import serving
from tools.mcp_server.failures import protocol_error
from tools.mcp_server.paging import page_result
from tools.mcp_server.peer import Peer, current_peer


@dataclass(frozen=True, slots=True)
class Shown:
    """The tools of one grant, by name, as they go over the wire.

    `first_page` is the first page as JSON, open at its end for what an era adds.
    """

    names: tuple[str, ...]
    wire: tuple[dict[str, Any], ...]
    first_page: bytes = field(repr=False)


_shown: WeakKeyDictionary[Directory, dict[frozenset[str] | None, Shown]] = WeakKeyDictionary()


async def list_tools(
    ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> dict[str, Any]:
    """One page of the tools the caller may see."""
    try:
        shown = current_view()
    except ControlPlaneError as error:
        raise protocol_error(error) from error
    return page_result("tools", shown.names, shown.wire, params)


def current_view() -> Shown:
    """What the current peer is shown; how long its first look took to come is noted.

    Raises:
        ControlPlaneError: the peer is not known, or its toolset is not.
    """
    peer, runtime = current_peer.get(), serving()
    shown = shown_to(runtime.directory, peer)
    if (seconds := peer.visit.first_listing()) is not None:
        runtime.discovery_times.append(seconds)
    return shown


def shown_to(directory: Directory, peer: Peer) -> Shown:
    """What `peer` is shown.

    Raises:
        ControlPlaneError: the peer is not known, or its toolset is not.
    """
    caller = identify(peer.credentials, directory.catalogue)
    by_grant = _shown.setdefault(directory, {})
    known = by_grant.get(caller.toolsets)
    if known is None:
        specs = sorted(directory.listed(caller), key=lambda spec: spec.name)
        names, wire = tuple(spec.name for spec in specs), tuple(map(tool_wire, specs))
        known = Shown(names, wire, _first_page(names, wire))
        by_grant[caller.toolsets] = known
    return known


def _first_page(names: tuple[str, ...], wire: tuple[dict[str, Any], ...]) -> bytes:
    page = page_result("tools", names, wire, None)
    del page["resultType"]
    return json.dumps(page, separators=(",", ":"), ensure_ascii=False)[:-1].encode()


def input_schema_of(name: str) -> Any | None:
    """The arguments a tool of the current peer takes, for the SDK's check of `Mcp-Param-*` headers."""
    directory = serving().directory
    try:
        caller = identify(current_peer.get().credentials, directory.catalogue)
        return directory.find(name, caller).input_schema
    except ControlPlaneError:
        return None


def tool_wire(spec: ToolSpec) -> dict[str, Any]:
    """A tool as tools/list shows it.

    The output schema is left out where answers may be shortened: clients check answers against
    it and would throw a shortened one away.
    """
    wire: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "annotations": {
            "readOnlyHint": spec.read_only,
            "destructiveHint": spec.destructive,
            "idempotentHint": spec.idempotent,
        },
    }
    if (given := spec.metadata.get("annotations")) is not None:
        # What an upstream server says, and no more than that.
        wire["annotations"] = dict(given)
    if spec.title:
        wire["title"] = spec.title
        wire["annotations"]["title"] = spec.title
    if spec.output_schema is not None and not spec.requires_context_management:
        wire["outputSchema"] = spec.output_schema
    if spec.tags:
        wire["_meta"] = {"tags": list(spec.tags)}
    return wire
