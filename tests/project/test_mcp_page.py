"""The reference page on MCP lists what the doors have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from mcp.server.subscriptions import ListenHandler
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types.methods import CLIENT_REQUESTS
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from starlette.routing import Route, WebSocketRoute

from tests.doors import RestDoor
from tests.project.pages import REFERENCE, fenced, names, read, rows, section
from tests.project.test_error_shape import subclasses
from tools.conf import ServiceSettings
from tools.contracts import CallerKind, Credentials, ToolSource, ToolSpec, Transport
from tools.errors import ConnectionLimitExceeded, ControlPlaneError, McpKind
from tools.mcp_server import bodies, calls, progress, server
from tools.mcp_server.app import McpDoors
from tools.mcp_server.changes import METHODS, Changes
from tools.mcp_server.failures import error_body
from tools.mcp_server.listing import tool_wire
from tools.mcp_server.older import BEFORE_RESOURCE_LINKS
from tools.mcp_server.paging import PAGE_SIZE
from tools.mcp_server.peer import Peer, current_peer
from tools.mcp_server.transports import conversation, direct, duplex, sse, stdio, websocket

PAGE = read(REFERENCE / "mcp.md")
ERRORS = section(PAGE, "## Errors")
# Served by the SDK without a handler of ours.
OF_THE_SDK = {"initialize", "ping"}


def test_the_addresses_are_the_routes() -> None:
    routes = McpDoors().routes()
    assert all(isinstance(route, Route | WebSocketRoute) for route in routes)
    listed = {names(row[0])[0] for row in rows(section(PAGE, "## Addresses"))}
    assert listed == {route.path for route in routes if isinstance(route, Route | WebSocketRoute)}
    assert f"subprotocol `{websocket.SUBPROTOCOL}`" in PAGE


def test_the_versions_are_those_of_the_sdk() -> None:
    listed = {names(row[0])[0]: row[1] for row in rows(section(PAGE, "## Versions"))}
    eras = dict.fromkeys(MODERN_PROTOCOL_VERSIONS, "stateless")
    assert listed == eras | dict.fromkeys(HANDSHAKE_PROTOCOL_VERSIONS, "handshake")
    offered = next(row[0] for row in rows(section(PAGE, "## Versions")) if "offered" in row[2])
    assert names(offered) == [LATEST_HANDSHAKE_VERSION]


def served() -> Iterator[tuple[str, str, str]]:
    """Each method with how the page should mark it, per era."""
    changes = Changes()
    made = server.build_server(changes, ListenHandler(changes))
    known = {method for method, _ in CLIENT_REQUESTS}
    for method in sorted(known | {"tasks/get", "tasks/update", "tasks/cancel"}):
        if method not in OF_THE_SDK and made.get_request_handler(method) is None:
            continue
        old = any((method, version) in CLIENT_REQUESTS for version in HANDSHAKE_PROTOCOL_VERSIONS)
        new = (method, MODERN_PROTOCOL_VERSIONS[-1]) in CLIENT_REQUESTS or "tasks" in method
        yield method, "yes" if old else "", "yes" if new else ""


def test_the_methods_are_those_the_server_answers_in_each_era() -> None:
    listed = [(names(row[0])[0], row[1], row[2]) for row in rows(section(PAGE, "## Methods"))]
    assert sorted(listed) == list(served())


def test_every_error_class_is_listed_as_the_doors_show_it() -> None:
    listed = {names(row[0])[0]: row[1:4] for row in rows(ERRORS) if len(row) == 5}
    forms = {McpKind.TOOL: "result", McpKind.PROTOCOL: "error"}
    assert listed == {
        kind.__name__: [forms[kind.mcp_kind], str(kind.mcp_code), str(kind.http_status)]
        for kind in subclasses(ControlPlaneError)
    }


def test_the_statuses_of_codes_are_those_of_the_sdk() -> None:
    listed = {row[0]: row[1] for row in rows(ERRORS) if len(row) == 3}
    assert listed.pop("others") == "200"
    assert listed == {str(code): str(status) for code, status in ERROR_CODE_HTTP_STATUS.items()}


def test_the_fields_of_a_tool_are_those_that_are_sent() -> None:
    schema = {"type": "object"}
    tool = ToolSpec("look", "Looks it up.", schema, ToolSource.BUILTIN, "look")
    wire = tool_wire(replace(tool, title="Look", output_schema=schema, tags=("a",)))
    listed = {
        name for line in rows(section(PAGE, "## A tool on the wire")) for name in names(line[0])
    }
    assert listed == (wire.keys() - {"_meta"}) | {"_meta.tags"}
    assert wire["_meta"].keys() == {"tags"}


def test_figures_on_the_page_are_those_of_the_code() -> None:
    words = re.sub(r"\s+", " ", PAGE)
    for figure in (
        f"A page has {PAGE_SIZE} items",
        f"`ttlMs` {server.LIST_TTL_MS} and `cacheScope` `private`",
        f"nothing was said for {progress.BEAT_SECONDS} s",
        f"at most {server.MOST_LISTENERS:,} subscriptions",
        f"`mcp.max_connections` ({ServiceSettings().mcp_max_connections})",
        f"| time for a body to arrive | {bodies.SLOWEST_BODY} s |",
        f"| waiting for an answer in plain JSON | {direct.STREAM_AFTER:.0f} s |",
        f"end within {stdio.PATIENCE_SECONDS} s are still answered",
        f"HTTP+SSE, stdio | {conversation.MOST_OPEN} | the next waits;",
        f"refused with 429 after {sse.TAKEN_WITHIN:.0f} s",
        f"to read a message | {duplex.SLOWEST_READER:.0f} s |",
        f"a comment every {direct.PING_SECONDS:.0f} s",
        f"closed with {websocket.TOO_LARGE} |",
        f"closed with {websocket.NO_TEXT} |",
        f"closed with {websocket.GOING_AWAY}.",
        f"but for {' and '.join(sorted(BEFORE_RESOURCE_LINKS))}",
    ):
        assert figure in words, figure
    assert all(f"`{method}`" in PAGE for method in METHODS.values())


def test_the_refusal_of_one_client_too_many_is_shown_as_it_is() -> None:
    shown = json.loads(fenced(section(PAGE, "## Connections"), "json")[0])
    body = error_body(ConnectionLimitExceeded(1, 1))
    assert shown == {"jsonrpc": "2.0", "id": None, "error": body}


@pytest.mark.parametrize("key", ["request_id", "correlation_id", "thread_id"])
def test_ids_that_clients_may_give_are_listed(key: str) -> None:
    listed = [names(row[0])[0] for row in rows(section(PAGE, "## Ids a client may give"))]
    assert key in listed
    somebody = Peer(Credentials(CallerKind.ANONYMOUS), Transport.STDIO)
    given = current_peer.set(somebody)
    try:
        made = calls.call_of("echo", {}, {key: "order_7"})
    finally:
        current_peer.reset(given)
    assert "order_7" in {made.correlation_id, made.thread_id}


def test_the_introduction_on_the_page_is_what_is_answered_now(door: RestDoor) -> None:
    door.start()
    part = section(PAGE, "## Introduction")
    command, shown = fenced(part, "sh")[0], json.loads(fenced(part, "json")[0])
    headers = dict(line.split(": ", 1) for line in re.findall(r"-H '(.+)'", command))
    sent = re.search(r"-d '(.+)'", command, re.DOTALL)
    assert sent is not None
    answer = door.client.post("/mcp", content=sent[1], headers=headers).json()
    assert answer == shown
