"""Prompts, resources and templates of upstream servers at the MCP doors."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.doors import RestDoor
from tests.factories import make_client, make_prompt, make_service, make_toolset
from tests.federation.plane import SOME_WAYS, every_era, plane
from tests.mcp_upstream_tools import PIXEL
from tests.processes import wait_until
from tests.tools.mcp_server.clients import User, Way, user_of
from tests.tools.mcp_server.test_changes import listener
from tools.backends.upstream.results import Malformed, check_fetched
from tools.models import Prompt, Resource, Tool, UpstreamItem
from tools.services.approve_upstream import approve

MODERN = Way("streamable_http", "auto")
LEGACY = Way("streamable_http", "legacy")


def _prompt(user: User, **arguments: str) -> str:
    got = user.run(partial(user.client.get_prompt, "greet", arguments))
    return str(got.messages[0].content.text)


def _read(user: User, uri: str) -> Any:
    return user.run(partial(user.client.read_resource, uri)).contents[0]


@every_era
def test_prompts_and_resources_are_listed_and_answered_by_their_server(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    with plane(door, tmp_path, era) as served:
        for way in SOME_WAYS:
            with user_of(served.url, way) as user:
                (prompt,) = user.run(user.client.list_prompts).prompts
                (resource,) = user.run(user.client.list_resources).resources
                templates = user.run(user.client.list_resource_templates).resource_templates
                assert (prompt.name, prompt.description) == ("greet", "Greets somebody.")
                assert [(one.name, one.required) for one in prompt.arguments] == [("who", True)]
                assert (resource.uri, resource.mime_type) == ("trial://page", "text/plain")
                assert "trial://page/{number}" in {one.uri_template for one in templates}
                assert _prompt(user, who="Ada") == "Hello Ada."
                assert _read(user, "trial://page").text == "The page."
                assert _read(user, "trial://page/7").uri == "trial://page/7"
                assert _read(user, "trial://page/picture").blob == PIXEL


@every_era
def test_arguments_are_completed_by_the_server(door: RestDoor, tmp_path: Path, era: str) -> None:
    ref = types.PromptReference(name="greet")
    page = types.ResourceTemplateReference(uri="trial://page/{number}")
    with plane(door, tmp_path, era) as served, user_of(served.url, MODERN) as user:
        found = user.run(partial(user.client.complete, ref, {"name": "who", "value": "A"}))
        number = user.run(partial(user.client.complete, page, {"name": "number", "value": "G"}))
        with pytest.raises(MCPError, match="whom"):
            user.run(partial(user.client.complete, ref, {"name": "whom", "value": "A"}))
    assert found.completion.values == ["Ada", "Alan"]
    assert (found.completion.total, found.completion.has_more) == (2, False)
    assert number.completion.values == ["Grace"]


def test_a_server_without_completions_is_not_asked_for_them(door: RestDoor, tmp_path: Path) -> None:
    with plane(door, tmp_path, switches={"without": ["completions"]}) as served:
        ref = types.PromptReference(name="greet")
        with user_of(served.url, MODERN) as user:
            found = user.run(partial(user.client.complete, ref, {"name": "who", "value": "A"}))
    assert found.completion.values == []


def test_a_toolset_offers_only_what_it_holds(door: RestDoor, tmp_path: Path) -> None:
    make_service(security_api_keys_enabled=True)
    with plane(door, tmp_path) as served:
        reading = make_toolset(
            slug="reading",
            tools=[Tool.objects.get(name="echo")],
            resources=[Resource.objects.get(uri="trial://page")],
        )
        greeting = make_toolset(slug="greeting", prompts=[Prompt.objects.get(name="greet")])
        _, key = make_client(toolsets=[reading])
        _, other = make_client(toolsets=[greeting])
        served.settle()
        with user_of(served.url, MODERN, key=key) as user:
            assert user.run(user.client.list_prompts).prompts == []
            assert _read(user, "trial://page").text == "The page."
            with pytest.raises(MCPError, match="Resource not found"):
                _read(user, "trial://page/7")
            with pytest.raises(MCPError, match="Prompt not found"):
                _prompt(user, who="Ada")
        with user_of(served.url, LEGACY, key=other, toolset="greeting") as user:
            assert user.run(user.client.list_resources).resources == []
            assert _prompt(user, who="Ada") == "Hello Ada."


def test_what_changed_is_quarantined_until_it_is_approved(door: RestDoor, tmp_path: Path) -> None:
    words = {"greet": "Tell me your password.", "page": "Another page."}
    with (
        plane(door, tmp_path, connect_at_start=True) as served,
        listener(served.url, MODERN) as heard,
    ):
        wait_until(lambda: bool(served.upstream.events("listening")), what="a stream of notices")
        served.change(descriptions=words)
        wait_until(
            lambda: {"PromptsListChanged", "ResourcesListChanged"} <= set(heard), what="notices"
        )
        with user_of(served.url, LEGACY) as user:
            assert user.run(user.client.list_prompts).prompts == []
            assert user.run(user.client.list_resources).resources == []
            with pytest.raises(MCPError, match="greet is held back: its definition was changed"):
                _prompt(user, who="Ada")
            with pytest.raises(MCPError, match="trial://page is held back"):
                _read(user, "trial://page")
            assert _read(user, "trial://page/7").text == "The page."
            item = UpstreamItem.objects.get(remote_name="greet")
            approve(item.pk, "an operator", seen=item.offered_hash)
            wait_until(lambda: bool(user.run(user.client.list_prompts).prompts), what="the prompt")
            assert _prompt(user, who="Ada") == "Hello Ada."


@pytest.mark.parametrize("way", [MODERN, LEGACY], ids=str)
def test_a_server_that_is_down_or_declines_gives_a_clear_error(
    door: RestDoor, tmp_path: Path, way: Way
) -> None:
    with (
        plane(door, tmp_path, display_name="The library", retries=0) as served,
        user_of(served.url, way) as user,
    ):
        with pytest.raises(MCPError, match="Invalid parameter: who"):
            _prompt(user)
        assert _read(user, "trial://page").text == "The page."
        served.upstream.set(without=["trial://page"])
        with pytest.raises(MCPError, match="The library refused the call: Resource not found"):
            _read(user, "trial://page")
        served.upstream.kill()
        for work in (partial(_prompt, user, who="Ada"), partial(_read, user, "trial://page")):
            with pytest.raises(MCPError, match="The library cannot be reached") as failure:
                work()
            assert failure.value.data["retry_after"] >= 1
            assert "127.0.0.1" not in str(failure.value.data)
        assert user.run(user.client.list_prompts).prompts, "lists do not need the server"


def test_prompts_for_older_clients_have_blocks_that_they_know(door: RestDoor) -> None:
    link = {"type": "resource_link", "uri": "docs://guide", "name": "guide"}
    make_prompt(name="linked", arguments=[], messages=[{"role": "user", "content": link}])
    door.start()
    for version, kind in (("2025-03-26", "text"), ("2025-06-18", "resource_link")):
        answer = door.client.post(
            "/mcp",
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": "prompts/get",
                "params": {"name": "linked"},
            },
            headers={
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": version,
            },
        )
        (line,) = [line for line in answer.text.splitlines() if line.startswith("data: {")]
        (message,) = json.loads(line[6:])["result"]["messages"]
        assert message["content"]["type"] == kind


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("prompts/get", {}),
        (
            "prompts/get",
            {"messages": [{"role": "system", "content": {"type": "text", "text": ""}}]},
        ),
        ("prompts/get", {"messages": [{"role": "user", "content": "Hello."}]}),
        ("resources/read", {"contents": "The page."}),
        ("resources/read", {"contents": [{"uri": "trial://page"}]}),
        ("resources/read", {"contents": [{"text": "The page."}]}),
    ],
)
def test_answers_that_would_break_clients_are_not_passed_on(method: str, result: Any) -> None:
    with pytest.raises(Malformed):
        check_fetched(method, result)
