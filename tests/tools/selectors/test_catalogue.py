"""The catalogue as one value: what is in it, and what a bad row does to it."""

from __future__ import annotations

import logging

import pytest

from tests.factories import (
    make_client,
    make_corpus,
    make_prompt,
    make_resource,
    make_tool,
    make_toolset,
    make_version,
    prompt_values,
    resource_values,
    tool_values,
)
from tools.contracts import PromptArgument, PromptSpec, ResourceSpec, ToolsetSpec
from tools.models import Prompt, Resource, Tool
from tools.selectors import load_catalogue

pytestmark = pytest.mark.django_db


def test_prompt_becomes_a_spec() -> None:
    messages = [{"role": "user", "content": {"type": "text", "text": "About {topic}"}}]
    make_prompt(
        name="ask",
        title="Ask",
        description="Asks.",
        arguments=[{"name": "topic", "required": True, "choices": ["a"]}, {"name": "more"}],
        messages=messages,
    )
    (spec,) = load_catalogue().prompts.values()
    assert spec == PromptSpec(
        name="ask",
        title="Ask",
        description="Asks.",
        arguments=(
            PromptArgument(name="topic", required=True, choices=("a",)),
            PromptArgument(name="more"),
        ),
        messages=tuple(messages),
    )
    assert spec.to_wire() == {
        "name": "ask",
        "title": "Ask",
        "description": "Asks.",
        "arguments": [{"name": "topic", "required": True}, {"name": "more", "required": False}],
    }


def test_resource_becomes_a_spec() -> None:
    row = make_resource(
        uri="docs://guide",
        name="guide",
        text="Grüße",
        mime_type="text/markdown",
        audience=["user"],
        priority=0.0,
    )
    (spec,) = load_catalogue().resources.values()
    assert spec == ResourceSpec(
        uri="docs://guide",
        name="guide",
        text="Grüße",
        mime_type="text/markdown",
        size=7,
        audience=("user",),
        priority=0.0,
        modified_at=row.updated_at,
    )
    wire = spec.to_wire()
    assert wire["annotations"].pop("lastModified").endswith("Z")
    assert wire == {
        "uri": "docs://guide",
        "name": "guide",
        "mimeType": "text/markdown",
        "size": 7,
        "annotations": {"audience": ["user"], "priority": 0.0},
    }


def test_template_becomes_a_spec_with_its_variables() -> None:
    make_resource(
        uri="docs://{part}/{id}", is_template=True, text="{id}", choices={"part": ["a", "b"]}
    )
    (spec,) = load_catalogue().resources.values()
    assert (spec.variables, spec.choices, spec.size) == (("part", "id"), {"part": ("a", "b")}, None)
    assert spec.to_wire()["uriTemplate"] == "docs://{part}/{id}"


def test_flags_of_tools_and_sets_are_filled_in() -> None:
    make_tool(name="slow", long_running=True)
    make_toolset(slug="notes", title="Notes", search_only=True, oauth_scope="notes:read")
    catalogue = load_catalogue()
    assert catalogue.tools["slow"].long_running
    assert catalogue.toolsets["notes"] == ToolsetSpec(
        slug="notes", title="Notes", search_only=True, oauth_scope="notes:read"
    )


def test_set_holds_its_members_and_one_that_includes_all_everything() -> None:
    tool, prompt, resource = make_tool(), make_prompt(), make_resource()
    others = make_tool(), make_prompt(), make_resource()
    make_toolset(slug="some", tools=[tool], prompts=[prompt], resources=[resource])
    make_toolset(slug="every", includes_all=True)
    sets = load_catalogue().toolsets
    assert sets["some"].tools == {tool.name}
    assert sets["some"].prompts == {prompt.name}
    assert sets["some"].resources == {resource.uri}
    assert sets["every"].tools == {tool.name, others[0].name}
    assert sets["every"].prompts == {prompt.name, others[1].name}
    assert sets["every"].resources == {resource.uri, others[2].uri}


def test_what_is_switched_off_is_in_no_set() -> None:
    prompt, resource = make_prompt(enabled=False), make_resource(enabled=False)
    make_toolset(slug="some", prompts=[prompt], resources=[resource])
    make_toolset(slug="every", includes_all=True)
    catalogue = load_catalogue()
    assert not catalogue.prompts
    assert not catalogue.resources
    assert all(not spec.prompts and not spec.resources for spec in catalogue.toolsets.values())


def test_bad_rows_are_left_out_and_logged_and_the_others_are_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Tool.objects.bulk_create([Tool(**tool_values(name="bad_tool", tags=5))])
    Prompt.objects.bulk_create(
        [Prompt(**prompt_values(name="bad_prompt", messages=[{"role": "user", "content": 5}]))]
    )
    Resource.objects.bulk_create([Resource(**resource_values(uri="docs://bad", audience=5))])
    tool, prompt, resource = make_tool(), make_prompt(), make_resource()
    make_toolset(slug="every", includes_all=True)
    with caplog.at_level(logging.ERROR):
        catalogue = load_catalogue()
    assert set(catalogue.flawed) == {"bad_tool", "bad_prompt", "docs://bad"}
    assert list(catalogue.tools) == [tool.name]
    assert list(catalogue.prompts) == [prompt.name]
    assert list(catalogue.resources) == [resource.uri]
    assert catalogue.toolsets["every"].resources == {resource.uri}
    for shown in ("Tool 'bad_tool'", "Prompt 'bad_prompt'", "Resource 'docs://bad'"):
        assert f"{shown} is left out of the catalogue" in caplog.text


def test_order_is_that_of_the_characters_on_every_database() -> None:
    for name in ("b", "B", "a_b", "aB", "_a"):
        make_tool(name=name)
        make_prompt(name=name)
    catalogue = load_catalogue()
    assert list(catalogue.tools) == list(catalogue.prompts) == ["B", "_a", "aB", "a_b", "b"]


def test_number_of_queries_does_not_grow_with_the_rows(
    django_assert_max_num_queries: object,
) -> None:
    for _ in range(20):
        toolset = make_toolset(tools=[make_tool()], prompts=[make_prompt()])
        make_client(toolsets=[toolset])
        make_version(make_corpus(), state="active")
    with django_assert_max_num_queries(15):  # type: ignore[operator]
        load_catalogue()
