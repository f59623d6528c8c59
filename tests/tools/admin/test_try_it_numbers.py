"""Numbers on the page on which a tool is tried: what its browser lets through."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.factories import make_tool
from tests.tools.admin.pages import text
from tests.tools.admin.trying import page_of


@pytest.mark.parametrize(
    ("limits", "least", "most"),
    [
        ({"minimum": 1, "maximum": 50}, "1", "50"),
        ({"minimum": 1.0, "maximum": 50.0}, "1", "50"),
        # Steps are counted from the least value, so that one has to be a whole number.
        ({"minimum": 0.5, "maximum": 9.5}, "1", "9"),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 10}, "1", "9"),
        ({"exclusiveMinimum": 0.5, "exclusiveMaximum": 9.5}, "1", "9"),
        ({"exclusiveMinimum": -1.5, "exclusiveMaximum": -0.1}, "-1", "-1"),
    ],
)
def test_every_whole_number_that_the_schema_allows_can_be_sent(
    admin_client: Client, limits: dict[str, Any], least: str, most: str
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", **limits}}}
    page = text(admin_client.get(page_of(make_tool(input_schema=schema))))
    control = re.search('<input id="a/n"[^>]*>', page)
    assert control is not None
    assert f'type="number" step="1" min="{least}" max="{most}"' in control[0]
