"""The product's MCP doors with the suite's fixtures added; nothing in the product imports this."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from starlette.applications import Starlette

import controlplane.celery  # noqa: F401 - hands tasks to the workers
from tests.conformance.asking import ASKING
from tests.conformance.backend import FixtureBackend
from tests.conformance.blocks import BLOCKS, answered
from tests.conformance.rounds import ASKS_BEFORE_TASK, PROMPT_ROUNDS, ROUNDS, ask_before_task
from tools.backends.registry import Registry, registry
from tools.contracts import ToolSource
from tools.execution.runtime import open_runtime
from tools.mcp_server.app import McpDoors
from tools.mcp_server.server import CatalogueServer

Context = ServerRequestContext[Any, Any]


def application(*, stateless: bool) -> Starlette:
    """The doors over the catalogue in the database, with or without sessions."""
    doors = McpDoors(stateless=stateless, prepare=add_fixtures)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with open_runtime() as runtime:
            runtime.registry = _registry()
            async with doors.run(runtime):
                yield

    return Starlette(routes=doors.routes(), lifespan=lifespan)


def add_fixtures(server: CatalogueServer) -> None:
    """Answer for the fixtures that the catalogue cannot hold; everything else stays as it is."""
    server.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="conformance")
    )
    server.answers_itself = frozenset({*BLOCKS, *ASKING, *ROUNDS, ASKS_BEFORE_TASK})
    _wrap_calls(server)
    _wrap_prompts(server)

    async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)


def _wrap_calls(server: CatalogueServer) -> None:
    entry = server.get_request_handler("tools/call")
    assert entry is not None
    product = entry.handler

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Any:
        if (blocks := BLOCKS.get(params.name)) is not None:
            return answered(blocks)
        if (asking := ASKING.get(params.name)) is not None:
            return answered(await asking(ctx, params.arguments or {}))
        if (play := ROUNDS.get(params.name)) is not None:
            return play(ctx, params)
        if params.name == ASKS_BEFORE_TASK:
            return await ask_before_task(ctx, params, product)
        return await product(ctx, params)

    server.add_request_handler("tools/call", types.CallToolRequestParams, call)


def _wrap_prompts(server: CatalogueServer) -> None:
    entry = server.get_request_handler("prompts/get")
    assert entry is not None
    product = entry.handler

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        if (play := PROMPT_ROUNDS.get(params.name)) is not None:
            return play(ctx, params)
        return await product(ctx, params)

    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


def _registry() -> Registry:
    made = Registry()
    builtin = registry.get(ToolSource.BUILTIN)
    assert builtin is not None
    made.register(ToolSource.BUILTIN, builtin)
    made.register(ToolSource.HTTP_API, FixtureBackend())
    return made
