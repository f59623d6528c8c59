"""The MCP server: the SDK's low-level one, with the catalogue behind its handlers."""

from __future__ import annotations

import logging
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from typing_extensions import override

from tools.conf import deployment
from tools.errors import InternalFault, Starting
from tools.execution.runtime import serving
from tools.mcp_server import calls, listing, prompts, resources, tasks
from tools.mcp_server.changes import Changes, follow
from tools.mcp_server.failures import protocol_error
from tools.mcp_server.peer import current_peer

logger = logging.getLogger(__name__)

# How long a client may trust a list without asking again; changes are announced meanwhile.
LIST_TTL_MS: Final = 5_000
_PRIVATE: Final = CacheHint(LIST_TTL_MS, "private")
MOST_LISTENERS: Final = 10_000


class CatalogueServer(Server[dict[str, Any]]):
    """Introduces itself as the toolset a client asked for, or as the whole service.

    `answers_itself` names tools whose calls must reach the handler registered here, because
    something was added to it.
    """

    answers_itself: frozenset[str] = frozenset()

    @override
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changed = NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        options = super().create_initialization_options(
            notification_options or changed, experimental_capabilities, extensions or {}
        )
        shown = presentation()
        return options.model_copy(
            update={
                "server_name": shown["name"],
                "title": shown.get("title"),
                "description": shown.get("description"),
                "instructions": instructions(),
            }
        )

    @property
    @override
    def server_info_stamp(self) -> dict[str, Any]:
        return presentation()


def build_server(changes: Changes, listen: ListenHandler) -> CatalogueServer:
    """The server that all transports of this process share."""
    server = CatalogueServer(
        "mcp-control-plane",
        version=deployment().version,
        cache_hints={
            "server/discover": _PRIVATE,
            "tools/list": _PRIVATE,
            "prompts/list": _PRIVATE,
            "resources/list": _PRIVATE,
            "resources/templates/list": _PRIVATE,
            "resources/read": CacheHint(0, "private"),
        },
        get_tool_input_schema=listing.input_schema_of,
        on_list_tools=listing.list_tools,  # type: ignore[arg-type] # dicts are taken as well
        on_call_tool=calls.call_tool,  # type: ignore[arg-type]
        on_list_prompts=prompts.list_prompts,  # type: ignore[arg-type]
        on_get_prompt=prompts.get_prompt,  # type: ignore[arg-type]
        on_completion=prompts.complete,  # type: ignore[arg-type]
        on_list_resources=resources.list_resources,  # type: ignore[arg-type]
        on_list_resource_templates=resources.list_templates,  # type: ignore[arg-type]
        on_read_resource=resources.read_resource,  # type: ignore[arg-type]
        on_subscribe_resource=resources.subscribe,
        on_unsubscribe_resource=resources.unsubscribe,
        on_subscriptions_listen=listen,
    )
    # In place of the SDK's spans, which cost a sixth of a call and go nowhere for now.
    server.middleware[:] = [contained]
    server.add_request_handler("server/discover", types.RequestParams, _discovering(server))

    async def initialized(
        ctx: ServerRequestContext[Any, Any], params: types.NotificationParams
    ) -> None:
        await follow(ctx, changes)

    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, initialized
    )
    tasks.install(server)
    return server


async def contained(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Keep the words of unexpected faults from clients; the SDK would pass them on."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as fault:
        logger.exception("%s failed on a bug", ctx.method)
        raise protocol_error(InternalFault()) from fault


def _discovering(server: CatalogueServer) -> Any:
    async def discover(
        ctx: ServerRequestContext[Any, Any], params: types.RequestParams
    ) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=instructions(),
        )

    return discover


def presentation() -> dict[str, Any]:
    """Name, version, title and description of what the current peer is talking to."""
    shown: dict[str, Any] = {"version": deployment().version}
    try:
        catalogue = serving().directory.catalogue
    except Starting:
        return {"name": "mcp-control-plane", **shown}
    toolset = catalogue.toolsets.get(current_peer.get().credentials.toolset)
    if toolset is None:
        return {"name": catalogue.settings.service_name, **shown}
    shown["name"] = toolset.slug
    if toolset.title:
        shown["title"] = toolset.title
    if toolset.description:
        shown["description"] = toolset.description
    return shown


def instructions() -> str:
    """What a model should know before it calls anything here."""
    return (
        "Errors say what was wrong and what to do: read error.data.suggestion and retry_after. "
        "A shortened answer names the resource that holds the whole; read_result pages through it."
    )
