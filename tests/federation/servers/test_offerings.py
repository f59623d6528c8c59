"""Prompts and resources of reference servers through the control plane are what they are directly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.federation.servers.answers import settled
from tests.federation.servers.plane import MCP_WAYS, Plane
from tests.federation.servers.reference import EVERYTHING, OVER_HTTP, programs
from tests.tools.mcp_server.clients import Way, connected

ways = pytest.mark.parametrize("way", MCP_WAYS, ids=str)
ARGUMENTS: Mapping[str, dict[str, str]] = {
    "simple-prompt": {},
    "args-prompt": {"city": "Bonn", "state": "NRW"},
    "completable-prompt": {"department": "Engineering", "name": "Alice"},
    "resource-prompt": {"resourceType": "Text", "resourceId": "7"},
}
FROM_TEMPLATES = ("demo://resource/dynamic/text/5", "demo://resource/dynamic/blob/6")


def written(value: Any, folder: Path) -> Any:
    """The parts of a result that are the server's, without moments."""
    dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    for ours in ("_meta", "ttlMs", "cacheScope", "resultType"):
        dumped.pop(ours, None)
    if dumped.get("arguments") == []:
        # To say that there are none, or to say nothing, is the same.
        del dumped["arguments"]
    return settled("", dumped, folder)


async def seen(client: Client, names: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Every prompt and resource that `names` has, and their contents."""
    prompts = {one.name: written(one, folder) for one in (await client.list_prompts()).prompts}
    resources = {
        str(one.uri): written(one, folder) for one in (await client.list_resources()).resources
    }
    templates = (await client.list_resource_templates()).resource_templates
    static = [uri for uri in resources if uri.startswith("demo://resource/static/")]
    return {
        "prompts": {remote: {**prompts[here], "name": ""} for remote, here in names.items()},
        "got": {
            remote: written(await client.get_prompt(here, ARGUMENTS[remote]), folder)
            for remote, here in names.items()
        },
        "resources": {uri: resources[uri] for uri in static},
        "templates": {
            one.uri_template: written(one, folder)
            for one in templates
            if one.uri_template.startswith("demo://")
        },
        "read": {
            uri: written(await client.read_resource(uri), folder)
            for uri in (*static, *FROM_TEMPLATES)
        },
    }


def directly(server: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await work(client)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def expected(folder: Path, files: Path) -> dict[str, Any]:
    """What the everything server itself shows."""
    server = programs(folder, files)[EVERYTHING].parameters()
    names = {name: name for name in ARGUMENTS}
    found: dict[str, Any] = directly(server, lambda client: seen(client, names, folder))
    assert set(found["prompts"]) == set(ARGUMENTS)
    assert len(found["read"]) == len(found["resources"]) + len(FROM_TEMPLATES)
    return found


@ways
def test_every_prompt_and_resource_is_listed_and_read_as_the_server_gives_it(
    plane: Plane, expected: dict[str, Any], folder: Path, way: Way
) -> None:
    # C01
    names = {name: name.replace("-", "_") for name in ARGUMENTS}

    async def visit() -> dict[str, Any]:
        async with connected(plane.url, way) as client:
            return await seen(client, names, folder)

    assert asyncio.run(visit()) == expected


@ways
def test_prompts_whose_names_are_taken_are_got_under_longer_names(
    plane: Plane, expected: dict[str, Any], folder: Path, way: Way
) -> None:
    # C01
    slug = OVER_HTTP.replace("-", "_")
    names = {name: f"{slug}__{name.replace('-', '_')}" for name in ARGUMENTS}

    async def visit() -> dict[str, Any]:
        async with connected(plane.url, way) as client:
            return {
                remote: written(await client.get_prompt(here, ARGUMENTS[remote]), folder)
                for remote, here in names.items()
            }

    assert asyncio.run(visit()) == expected["got"]
