"""An operation of an HTTP API with an argument, and the page of its tool."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_tool
from tests.tools.admin.pages import address
from tools.models import ApiOperation, ApiService, Tool

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}


@pytest.fixture
def operation(service: ApiService) -> ApiOperation:
    """An operation with an argument."""
    tool = make_tool(name="shop_item", input_schema=SCHEMA, title="An item")
    made = ApiOperation(service=service, tool=tool, method="GET", path="/items/{id}")
    made.parameters = [{"argument": "id", "in": "path"}]
    made.save()
    return made


def page_of(operation: ApiOperation) -> str:
    return address(Tool, "change", operation.tool_id)
