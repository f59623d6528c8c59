"""What a toolset may be."""

from __future__ import annotations

import pytest

from tests.factories import make_tool, make_toolset
from tests.tools.models.refusals import database_refuses, model_refuses
from tools.models import Toolset

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
