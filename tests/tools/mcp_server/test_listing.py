"""tools/list in pages, with bad rows, and for toolsets that are only searched."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of
from tests.tools.mcp_server.clients import WAYS, User, Way, user_of
from tools.mcp_server import paging
from tools.models import Tool
from tools.services.seed_demo import seed_demo

ways = pytest.mark.parametrize("way", WAYS[:2], ids=str)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_hold_every_item_once_and_in_order(size: int) -> None:
    keys = [f"tool_{number}" for number in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        span, cursor = paging.page_of(keys, cursor, size)
        assert len(keys[span]) <= size
        seen += keys[span]
        if cursor is None:
            break
    assert seen == keys


def test_a_list_that_changes_between_pages_skips_and_repeats_nothing() -> None:
    span, cursor = paging.page_of(["a", "c", "e", "g"], None, 2)
    assert ["a", "c", "e", "g"][span] == ["a", "c"]
    later = ["b", "d", "e", "f", "g"]
    span, _ = paging.page_of(later, cursor, 10)
    assert later[span] == ["d", "e", "f", "g"]


def test_an_empty_list_is_one_empty_page() -> None:
    assert paging.page_of([], None) == (slice(0, 0), None)


@ways
def test_clients_walk_through_the_pages(
    door: RestDoor, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_SIZE", 2)
    names = [make_tool(name=f"tool_{number}").name for number in range(5)]
    door.start()
    with user_of(door.url, way) as user:
        first = user.run(user.client.list_tools)
        assert len(first.tools) == 2
        assert user.names() == names


@ways
@pytest.mark.parametrize("cursor", ["nonsense!", "", "ü", "x" * 10_000])
def test_a_cursor_that_is_none_of_ours_is_refused(door: RestDoor, way: Way, cursor: str) -> None:
    make_tool(name="echo")
    door.start()
    with user_of(door.url, way) as user:
        if not cursor:
            assert user.run(lambda: user.client.list_tools(cursor=cursor)).tools
            return
        with pytest.raises(MCPError) as refused:
            user.run(lambda: user.client.list_tools(cursor=cursor))
    assert refused.value.code == -32602
    assert refused.value.data["parameter"] == "cursor"


@ways
def test_one_bad_row_is_left_out_and_the_rest_is_served(
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_tool(name="sound")
    bad = make_tool(name="bad")
    broken = {"type": "object", "properties": {"a": {"type": "nonsense"}}}
    Tool.objects.filter(pk=bad.pk).update(input_schema=broken)
    door.start()
    with user_of(door.url, way) as user:
        assert user.names() == ["sound"]
        assert user.call("sound").is_error is False


@ways
def test_a_searched_toolset_lists_two_tools_and_serves_all(
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_service(security_api_keys_enabled=True)
    seed_demo(servers=False)
    many = [make_tool(name=f"report_{number}") for number in range(20)]
    weather = make_tool(name="weather", description="Tells the weather of a town for tomorrow.")
    searched = make_toolset(slug="searched", tools=[*many, weather], search_only=True)
    _, key = make_client(toolsets=[searched])
    door.start()
    with user_of(door.url, way, key=key) as user:
        assert user.names() == ["call_tool", "tool_search"]
        found = user.call("tool_search", {"query": "will it rain tomorrow in town", "limit": 3})
        names = [tool["name"] for tool in found.structured_content["tools"]]
        assert "weather" in names
        called = _generic(user, {"name": "weather", "arguments": {"town": "Bonn"}})
        assert called.structured_content == {"echo": {"town": "Bonn"}}
        row = row_of(called.meta["request_id"])
        assert row.tool_id == "weather", "the journal names the tool that did the work"
        wrong = _generic(user, {"arguments": {}})
        assert wrong.structured_content["error"]["data"]["parameter"] == "name"
        with pytest.raises(MCPError, match="not found"):
            _generic(user, {"name": "hidden"})


def _generic(user: User, arguments: dict[str, Any]) -> Any:
    return user.call("call_tool", arguments)
