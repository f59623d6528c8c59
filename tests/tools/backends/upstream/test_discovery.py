"""Everything a server offers, page by page, however it goes about it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.backends.upstream.raw_http import Asked, error, reply
from tests.tools.backends.upstream.scripted import (
    EVERYTHING,
    discovered,
    methods,
    reached,
    scripted,
    tool,
    welcome,
)
from tools.backends.upstream import discovery
from tools.backends.upstream.probing import probe
from tools.errors import TransportFault, UpstreamFailed
from tools.upstreams import Discovered

PROMPTS = {"prompts": [{"name": "greet"}]}
RESOURCES = {"resources": [{"uri": "docs://one", "name": "one"}]}
TEMPLATES = {"resourceTemplates": [{"uriTemplate": "docs://{page}", "name": "page"}]}
COMPLETE: dict[str, Any] = {
    "server/discover": discovered(
        instructions="Be kind.",
        _meta={"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}},
    ),
    "tools/list": {"tools": [tool("one"), tool("two")]},
    "prompts/list": PROMPTS,
    "resources/list": RESOURCES,
    "resources/templates/list": TEMPLATES,
}


async def found_at(answers: Any) -> Discovered:
    async with scripted({**COMPLETE, **answers}) as server:
        return await probe(reached(server))


def names(found: Discovered) -> list[Any]:
    return [one["name"] for one in found.tools]


async def test_everything_is_found_with_what_the_server_says_of_itself() -> None:
    # S2-007, S2-018, S2-021, S2-008
    found = await found_at({})
    assert names(found) == ["one", "two"]
    assert found.tools[0] == tool("one")
    assert found.prompts == tuple(PROMPTS["prompts"])
    assert found.resources == tuple(RESOURCES["resources"])
    assert found.templates == tuple(TEMPLATES["resourceTemplates"])
    assert (found.protocol_version, found.instructions) == ("2026-07-28", "Be kind.")
    assert found.server_info == {"name": "scripted", "version": "1"}
    assert found.seconds >= 0
    assert not found.tools_only


async def test_all_pages_are_read_in_order() -> None:
    # S2-021
    def page(request: Asked) -> dict[str, Any]:
        number = int(request.message["params"].get("cursor", 0))
        listed = {"tools": [tool(f"tool_{number}_{place}") for place in range(3)]}
        return {**listed, "nextCursor": str(number + 1)} if number < 4 else listed

    found = await found_at({"tools/list": page})
    assert names(found) == [f"tool_{number}_{place}" for number in range(5) for place in range(3)]


async def test_a_list_whose_pages_repeat_comes_to_an_end() -> None:
    again = {"tools": [tool("one")], "nextCursor": "again"}
    async with scripted({**COMPLETE, "tools/list": again}) as server:
        found = await probe(reached(server))
        assert methods(server).count("tools/list") == 2
    assert names(found) == ["one", "one"]


async def test_a_list_without_end_is_read_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_PAGES", 20)

    def page(request: Asked) -> dict[str, Any]:
        number = int(request.message["params"].get("cursor", 0))
        return {"tools": [tool(f"tool_{number}")], "nextCursor": str(number + 1)}

    async with scripted({**COMPLETE, "tools/list": page}) as server:
        assert len((await probe(reached(server))).tools) == 20
        assert methods(server).count("tools/list") == 20


async def test_very_many_things_are_read_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_ITEMS", 5)
    listed = {"tools": [tool(f"tool_{number}") for number in range(9)], "nextCursor": "2"}
    assert len((await found_at({"tools/list": listed})).tools) == 5


@pytest.mark.parametrize("cursor", [7, None, {"a": 1}, ""])
async def test_a_cursor_that_is_no_text_ends_the_list(cursor: Any) -> None:
    found = await found_at({"tools/list": {"tools": [tool("one")], "nextCursor": cursor}})
    assert names(found)[0] == "one"
    assert len(found.tools) <= 2


async def test_things_that_are_no_objects_are_passed_over() -> None:
    found = await found_at({"tools/list": {"tools": ["text", 7, None, tool("one"), [1]]}})
    assert names(found) == ["one"]


@pytest.mark.parametrize("answer", [{}, {"tools": None}, {"tools": {}}, {"tools": "all"}])
async def test_an_answer_without_the_list_is_a_fault(answer: Any) -> None:
    with pytest.raises(TransportFault, match="its answer to tools/list has no tools"):
        await found_at({"tools/list": answer})


async def test_a_list_that_the_server_does_not_know_is_empty() -> None:
    # C18
    without = dict.fromkeys(("tools/list", "prompts/list", "resources/templates/list"))
    found = await found_at(without)
    assert (found.tools, found.prompts, found.templates) == ((), (), ())
    assert len(found.resources) == 1


async def test_a_list_that_fails_otherwise_is_told() -> None:
    def failing(request: Asked) -> bytes:
        return reply(error(request, -32603, "database is away"))

    for method in ("tools/list", "prompts/list"):
        with pytest.raises(
            UpstreamFailed, match="refused to list what it offers: database is away"
        ):
            await found_at({method: failing})


@pytest.mark.parametrize(("capability", "absent"), [("prompts", 1), ("resources", 2), ("tools", 0)])
async def test_only_tools_are_asked_for_without_being_announced(
    capability: str, absent: int
) -> None:
    offered: dict[str, Any] = {key: {} for key in EVERYTHING if key != capability}
    answers = {**COMPLETE, "server/discover": discovered(capabilities=offered)}
    async with scripted(answers) as server:
        await probe(reached(server))
        asked = {one for one in methods(server) if one.endswith("/list")}
    assert len(asked) == 4 - absent
    assert "tools/list" in asked


async def test_a_server_of_the_handshake_era_is_found_as_well() -> None:
    answers = {**COMPLETE, "server/discover": None, "initialize": welcome(instructions="Be old.")}
    async with scripted(answers) as server:
        found = await probe(reached(server))
        assert methods(server)[:3] == ["server/discover", "initialize", "notifications/initialized"]
    assert (found.protocol_version, found.instructions) == ("2025-06-18", "Be old.")
    assert (len(found.tools), len(found.prompts)) == (2, 1)
