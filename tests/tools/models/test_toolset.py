"""What a toolset may be."""

from __future__ import annotations

import pytest

from tests.factories import make_prompt, make_resource, make_tool, make_toolset
from tests.tools.models.refusals import database_refuses, model_refuses
from tools.models import CatalogState, Toolset

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", ["", "All", "1set", "a_b", "a b", "sét", "set\n", "s" * 65])
def test_slug_outside_the_pattern_is_refused(slug: str) -> None:
    # C13
    row = Toolset(slug=slug)
    assert model_refuses(row, "slug")
    database_refuses(row)


def test_slug_is_unique() -> None:
    make_toolset(slug="all")
    assert model_refuses(Toolset(slug="all"), "slug")
    database_refuses(Toolset(slug="all"))


def test_tool_may_be_in_several_sets() -> None:
    tool = make_tool()
    sets = {make_toolset(slug=slug, tools=[tool]).slug for slug in ("a", "b" * 64)}
    assert {toolset.slug for toolset in tool.toolsets.all()} == sets


@pytest.mark.parametrize("scope", ["a b", 'a"b', "a\\b", "ä", "a\n", "x" * 129])
def test_scope_outside_the_oauth_characters_is_refused(scope: str) -> None:
    row = Toolset(slug="notes", oauth_scope=scope)
    assert model_refuses(row, "oauth_scope")
    database_refuses(row)


@pytest.mark.parametrize("scope", ["tools:read", "https://example.org/scope", "x" * 128, "[a]"])
def test_scope_of_oauth_characters_is_kept(scope: str) -> None:
    assert Toolset.objects.get(pk=make_toolset(oauth_scope=scope).pk).oauth_scope == scope


def test_scope_grants_one_set_only_and_no_scope_any_number() -> None:
    make_toolset(oauth_scope="tools")
    make_toolset()
    make_toolset()
    second = Toolset(slug="second", oauth_scope="tools")
    assert model_refuses(second, "__all__") == ["Another toolset has this OAuth scope."]
    database_refuses(second)


def test_prompts_and_resources_may_be_in_several_sets_and_changes_are_announced() -> None:
    prompt, resource = make_prompt(), make_resource()
    first, second = make_toolset(prompts=[prompt]), make_toolset()
    version = CatalogState.objects.get().version
    second.prompts.add(prompt)
    second.resources.add(resource)
    assert {toolset.slug for toolset in prompt.toolsets.all()} == {first.slug, second.slug}
    assert CatalogState.objects.get().version == version + 2


def test_new_switches_are_off_unless_asked_for() -> None:
    toolset = make_toolset()
    assert (toolset.search_only, toolset.oauth_scope, toolset.title) == (False, "", "")
    assert make_tool().long_running is False
