"""The call that a new client is shown: one it may make, with arguments that fit."""

from __future__ import annotations

import pytest

from tests.factories import make_client, make_tool, make_toolset
from tools.models import Tool
from tools.services.call_examples import with_curl
from tools.services.first_call import first_call

pytestmark = pytest.mark.django_db

URL = "http://127.0.0.1:8000"
NEEDS_ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
NEEDS_PATTERN = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": "^[A-Z]{9}$"}},
    "required": ["code"],
}


def shown_for(*tools: Tool) -> str | None:
    client, _ = make_client(toolsets=[make_toolset(tools=tools)])
    call = first_call(client, URL, "cp_x")
    return call.tool if call else None


def test_tool_that_needs_nothing_comes_before_one_whose_arguments_are_made_up() -> None:
    first = make_tool(name="a_needs", source="http_api", input_schema=NEEDS_ID)
    second = make_tool(name="b_plain", source="http_api")
    assert shown_for(first, second) == "b_plain"
    assert shown_for(first) == "a_needs"


def test_tool_whose_arguments_cannot_be_made_up_comes_last() -> None:
    hard = make_tool(name="a_hard", source="http_api", input_schema=NEEDS_PATTERN)
    easy = make_tool(name="b_easy", source="http_api", input_schema=NEEDS_ID)
    assert shown_for(hard, easy) == "b_easy"


def test_tool_that_may_delete_something_comes_after_all_others() -> None:
    deletes = make_tool(name="a_deletes", source="http_api", destructive=True)
    hard = make_tool(name="b_hard", source="http_api", input_schema=NEEDS_PATTERN)
    assert shown_for(deletes, hard) == "b_hard"
    assert shown_for(deletes) == "a_deletes"


def test_nothing_is_shown_that_the_client_may_not_call() -> None:
    make_tool(name="plain", source="http_api")
    off = make_tool(name="off", source="http_api", enabled=False)
    assert shown_for() is None
    assert shown_for(off) is None


def test_key_stands_in_the_command_and_in_no_other_text() -> None:
    client, _ = make_client(toolsets=[make_toolset(includes_all=True)])
    make_tool(name="plain", source="http_api")
    call = first_call(client, URL, "cp_'x")
    assert call is not None
    assert "cp_" not in repr(call)
    assert "X-API-Key: cp_" in with_curl(call)
