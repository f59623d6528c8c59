"""Who sees what: tools, prompts and resources by grant."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tools.contracts import (
    Caller,
    CallerKind,
    PromptSpec,
    ResourceSpec,
    ToolsetSpec,
    ToolSource,
    ToolSpec,
)
from tools.errors import PromptNotFound, ResourceNotFound, ToolNotFound
from tools.execution.lookup import Directory
from tools.selectors import Catalogue


def tool(name: str, source: ToolSource = ToolSource.HTTP_API, handler: str = "") -> ToolSpec:
    return ToolSpec(name, "What it does.", {"type": "object"}, source, handler or name)


def toolset(slug: str, tools: str = "", *, search_only: bool = False, **held: str) -> ToolsetSpec:
    return ToolsetSpec(
        slug=slug,
        tools=frozenset(tools.split()),
        search_only=search_only,
        **{kind: frozenset(names.split()) for kind, names in held.items()},  # type: ignore[arg-type]
    )


def caller(*toolsets: str) -> Caller:
    """One who was granted these sets."""
    return Caller(CallerKind.API_KEY, "client:1", "one", 100, frozenset(toolsets))


EVERYONE = Caller(CallerKind.ANONYMOUS, "address:1", "one", 100)
SEARCH = tool("tool_search", ToolSource.BUILTIN)
CALL = tool("call_tool", ToolSource.BUILTIN)
PROMPTS = [PromptSpec(name, ()) for name in ("ask", "sum_up")]
RESOURCES = [
    ResourceSpec("docs://guide", "guide"),
    ResourceSpec("docs://{id}", "any", is_template=True, variables=("id",)),
    ResourceSpec("docs://v-{id}", "version", is_template=True, variables=("id",)),
]


def directory(
    tools: Iterable[ToolSpec] = (), sets: Iterable[ToolsetSpec] = (), *, offerings: bool = True
) -> Directory:
    known = sorted([*tools, tool("a"), tool("b"), tool("c")], key=lambda spec: spec.name)
    return Directory(
        Catalogue(
            tools={spec.name: spec for spec in known},
            prompts={spec.name: spec for spec in PROMPTS} if offerings else {},
            resources={spec.uri: spec for spec in RESOURCES} if offerings else {},
            toolsets={spec.slug: spec for spec in sets},
        )
    )


def names(specs: Iterable[ToolSpec]) -> list[str]:
    return [spec.name for spec in specs]


def test_caller_bound_to_no_set_sees_everything_but_the_generic_call_in_lists() -> None:
    found = directory([SEARCH, CALL])
    assert names(found.listed(EVERYONE)) == ["a", "b", "c", "tool_search"]
    assert names(found.visible(EVERYONE)) == ["a", "b", "c", "call_tool", "tool_search"]
    assert found.find("call_tool", EVERYONE) is CALL


def test_plain_set_lists_its_tools_but_not_the_generic_call() -> None:
    found = directory([SEARCH, CALL], [toolset("some", "a call_tool")])
    assert names(found.listed(caller("some"))) == ["a"]
    assert found.find("call_tool", caller("some")) is CALL
    with pytest.raises(ToolNotFound):
        found.find("tool_search", caller("some"))


def test_searched_set_lists_the_two_helpers_in_place_of_its_tools() -> None:
    found = directory([SEARCH, CALL], [toolset("big", "a b", search_only=True)])
    granted = caller("big")
    assert names(found.listed(granted)) == ["call_tool", "tool_search"]
    assert names(found.visible(granted)) == ["a", "b", "call_tool", "tool_search"]
    for name in ("a", "b", "call_tool", "tool_search"):
        assert found.find(name, granted).name == name
    with pytest.raises(ToolNotFound):
        found.find("c", granted)


def test_tools_of_another_set_stay_listed_beside_a_searched_one() -> None:
    sets = [toolset("big", "a b", search_only=True), toolset("small", "b c")]
    found = directory([SEARCH, CALL], sets)
    assert names(found.listed(caller("big", "small"))) == ["b", "c", "call_tool", "tool_search"]


def test_helpers_that_are_off_are_not_made_up() -> None:
    found = directory([SEARCH], [toolset("big", "a", search_only=True)])
    assert names(found.listed(caller("big"))) == ["tool_search"]


def test_helper_is_known_by_what_it_does_not_by_its_name() -> None:
    renamed = tool("use_tool", ToolSource.BUILTIN, "call_tool")
    upstream = tool("call_tool", ToolSource.UPSTREAM, "call_tool")
    found = directory([renamed, upstream])
    assert names(found.listed(EVERYONE)) == ["a", "b", "c", "call_tool"]


def test_listing_of_get_tools_is_what_lists_show_and_is_put_together_once() -> None:
    found = directory([SEARCH, CALL], [toolset("big", "a", search_only=True)])
    listing = found.listing(caller("big"))
    assert names(listing.tools) == ["call_tool", "tool_search"]
    assert found.listing(caller("big")) is listing
    assert found.listed(caller("big")) is found.listed(caller("big"))


def test_unknown_tool_of_a_searched_set_is_told_what_comes_close_not_everything() -> None:
    many = [tool(f"sheep_tool_{number:03d}") for number in range(300)]
    searched = toolset("big", " ".join(names(many)), search_only=True)
    found = directory([SEARCH, CALL, *many], [searched])
    with pytest.raises(ToolNotFound) as caught:
        found.find("sheep_tool_0x7", caller("big"))
    available = caught.value.details.available or ()
    assert len(available) == 5
    assert set(available) >= {"call_tool", "tool_search"}


def test_set_that_is_gone_grants_nothing() -> None:
    found = directory()
    assert found.listed(caller("gone")) == ()
    assert found.visible_prompts(caller("gone")) == ()
    assert found.visible_resources(caller("gone")) == ()


def test_prompts_and_resources_are_seen_by_grant() -> None:
    held = toolset("some", prompts="ask", resources="docs://guide docs://{id}")
    found = directory(sets=[held, toolset("none")])
    granted = caller("some")
    assert [spec.name for spec in found.visible_prompts(granted)] == ["ask"]
    assert [spec.uri for spec in found.visible_resources(granted)] == ["docs://guide"]
    assert [spec.uri for spec in found.visible_templates(granted)] == ["docs://{id}"]
    assert found.visible_prompts(caller("none")) == ()
    assert [spec.name for spec in found.visible_prompts(EVERYONE)] == ["ask", "sum_up"]
    assert len(found.visible_templates(EVERYONE)) == 2


def test_unknown_prompt_is_told_what_there_is() -> None:
    found = directory(sets=[toolset("some", prompts="ask")])
    assert found.find_prompt("ask", caller("some")).name == "ask"
    with pytest.raises(PromptNotFound) as caught:
        found.find_prompt("sum_up", caller("some"))
    assert caught.value.details.available == ("ask",)
    with pytest.raises(PromptNotFound) as caught:
        found.find_prompt("sumup", EVERYONE)
    assert caught.value.details.suggestion == "Did you mean sum_up?"
    assert (caught.value.mcp_code, caught.value.http_status) == (-32602, 404)


def test_own_address_comes_before_templates_and_the_closest_template_first() -> None:
    found = directory()
    assert found.match_resource("docs://guide", EVERYONE) == (RESOURCES[0], {})
    assert found.match_resource("docs://v-2", EVERYONE) == (RESOURCES[2], {"id": "2"})
    assert found.match_resource("docs://x%20y", EVERYONE) == (RESOURCES[1], {"id": "x y"})


def test_resource_outside_the_grant_does_not_exist() -> None:
    found = directory(sets=[toolset("some", resources="docs://guide")])
    with pytest.raises(ResourceNotFound) as caught:
        found.match_resource("docs://other", caller("some"))
    assert caught.value.details.available == ("docs://guide",)
    assert caught.value.mcp_code == -32602
    with pytest.raises(ResourceNotFound):
        found.match_resource("docs://" + "x" * 5000, EVERYONE)


def test_template_is_found_by_its_own_text() -> None:
    found = directory()
    assert found.find_template("docs://{id}", EVERYONE) is RESOURCES[1]
    with pytest.raises(ResourceNotFound):
        found.find_template("docs://guide", EVERYONE)
