"""Everything a server offers, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.inbound import X_MCP_HEADER_KEY, x_mcp_header_map

from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.session import METHOD_NOT_FOUND, RpcError, Session
from tools.upstreams import Discovered

# A list that never ends must not keep us for ever.
MOST_PAGES: Final = 1000
MOST_ITEMS: Final = 20_000
# Nobody reads definitions that are nested more deeply, and working on them would break.
DEEPEST: Final = 64

Items = tuple[Mapping[str, Any], ...]
# Names of headers by the path of the argument whose value they have.
Announced = Mapping[tuple[str, ...], str]


async def list_tools(session: Session) -> Items:
    """All tools. They are asked for whatever the server says it is capable of.

    Raises:
        ChannelFault, RpcError: they could not be listed.
    """
    return await _pages(session, "tools/list", "tools")


def by_name(tools: Items) -> dict[str, Mapping[str, Any]]:
    """The tools by their names; of two that have the same name the first counts."""
    named: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        if isinstance(name := tool.get("name"), str):
            named.setdefault(name, tool)
    return named


def announced_arguments(tool: Mapping[str, Any]) -> Announced:
    """The arguments that the tool wants announced in headers, by where they are."""
    schema = tool.get("inputSchema")
    return x_mcp_header_map(schema) if X_MCP_HEADER_KEY in str(schema) else {}


async def discover(session: Session, tools: Items, seconds: float) -> Discovered:
    """What else the server offers, beside the `tools` it was already asked for."""
    agreed = session.agreed
    return Discovered(
        protocol_version=agreed.version,
        server_info=agreed.server_info,
        instructions=agreed.instructions,
        tools=tools,
        prompts=await _all(session, "prompts/list", "prompts"),
        resources=await _all(session, "resources/list", "resources"),
        templates=await _all(
            session, "resources/templates/list", "resourceTemplates", capability="resources"
        ),
        seconds=seconds,
    )


async def _all(session: Session, method: str, key: str, capability: str = "") -> Items:
    if (capability or key) not in session.agreed.capabilities:
        return ()
    return await _pages(session, method, key)


async def _pages(session: Session, method: str, key: str) -> Items:
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        try:
            page = await session.request(method, {} if cursor is None else {"cursor": cursor})
        except RpcError as error:
            # Some announce a capability and then know only a part of its methods.
            if error.code == METHOD_NOT_FOUND:
                return tuple(found)
            raise
        items = page.get(key)
        if not isinstance(items, list):
            raise ChannelFault(f"its answer to {method} has no {key}", sent=True)
        found.extend(_pruned(item) for item in items if isinstance(item, Mapping))
        following = page.get("nextCursor")
        if not isinstance(following, str) or following == cursor or len(found) > MOST_ITEMS:
            break
        cursor = following
    return tuple(found[:MOST_ITEMS])


def _pruned(value: Any, depth: int = DEEPEST) -> Any:
    """`value` with nothing in place of what is nested too deeply."""
    if isinstance(value, Mapping):
        return {key: _pruned(item, depth - 1) for key, item in value.items()} if depth else {}
    if isinstance(value, list):
        return [_pruned(item, depth - 1) for item in value] if depth else []
    return value
