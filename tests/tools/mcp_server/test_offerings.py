"""Prompts and resources over every network door, in both eras."""

from __future__ import annotations

import json
from functools import partial

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.doors import RestDoor
from tests.factories import make_client, make_prompt, make_resource, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.tools.mcp_server.clients import WAYS, Way, user_of

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
PIXEL = "iVBORw0KGgo="


@every_way
def test_a_prompt_is_listed_completed_and_filled_in(door: RestDoor, way: Way) -> None:
    make_prompt(
        name="ask",
        title="Ask",
        arguments=[{"name": "topic", "required": True, "choices": ["sheep", "goats"]}],
        messages=[
            {"role": "user", "content": {"type": "text", "text": "About {topic}."}},
            {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}},
        ],
    )
    door.start()
    with user_of(door.url, way) as user:
        (listed,) = user.run(user.client.list_prompts).prompts
        ref = types.PromptReference(name="ask")
        values = user.run(partial(user.client.complete, ref, {"name": "topic", "value": "s"}))
        filled = user.run(partial(user.client.get_prompt, "ask", {"topic": "{sheep}"}))
    assert (listed.name, listed.title, listed.arguments[0].required) == ("ask", "Ask", True)
    assert values.completion.values == ["sheep", "goats"]
    text, image = filled.messages
    assert (text.role, text.content.text) == ("user", "About {sheep}.")
    assert (image.content.data, image.content.mime_type) == (PIXEL, "image/png")


@every_way
def test_resources_and_templates_are_listed_and_read(door: RestDoor, way: Way) -> None:
    make_resource(uri="docs://guide", text="Grüße", mime_type="text/plain", priority=1)
    make_resource(uri="docs://dot", blob=PIXEL, mime_type="image/png")
    make_resource(uri="docs://page/{id}", is_template=True, text="Page {id}")
    door.start()
    with user_of(door.url, way) as user:
        listed = user.run(user.client.list_resources).resources
        templates = user.run(user.client.list_resource_templates).resource_templates
        read = {
            uri: user.run(partial(user.client.read_resource, uri)).contents[0]
            for uri in ("docs://guide", "docs://dot", "docs://page/gr%C3%BCn")
        }
    assert [(item.uri, item.size) for item in listed] == [
        ("docs://dot", 8),
        ("docs://guide", 6 + 1),
    ]
    assert listed[1].annotations.priority == 1
    assert [item.uri_template for item in templates] == [
        "docs://page/{id}",
        "result://{request_id}",
    ]
    assert read["docs://guide"].text == "Grüße"
    assert (read["docs://dot"].blob, read["docs://dot"].mime_type) == (PIXEL, "image/png")
    assert read["docs://page/gr%C3%BCn"].text == "Page grün"


@every_way
def test_what_is_not_there_is_a_protocol_error_that_helps(door: RestDoor, way: Way) -> None:
    # S4-066 S4-071
    make_prompt(name="ask")
    door.start()
    with user_of(door.url, way) as user:
        faults = []
        for attempt in (
            partial(user.client.get_prompt, "asks", {}),
            partial(user.client.get_prompt, "ask", {}),
            partial(user.client.read_resource, "docs://nowhere"),
            partial(user.client.read_resource, "result://5f0c6f0e-8a3f-4c7a-9d2b-0d9b8f2f7c11"),
        ):
            with pytest.raises(MCPError) as caught:
                user.run(attempt)
            faults.append(caught.value.error)
    assert [fault.code for fault in faults] == [-32602] * 4
    assert [fault.data["parameter"] for fault in faults] == ["name", "topic", "uri", "uri"]
    assert faults[0].data["available"] == ["ask"]
    assert all(fault.data["suggestion"] for fault in faults)


@every_way
def test_a_toolset_address_offers_what_the_set_holds(door: RestDoor, way: Way) -> None:
    prompt, resource = make_prompt(), make_resource()
    make_prompt(name="other")
    make_resource(uri="docs://other")
    _, key = make_client(
        toolsets=[make_toolset(slug="one", prompts=[prompt], resources=[resource])]
    )
    door.start()
    for options in ({"toolset": "one"}, {"key": key}):
        with user_of(door.url, way, **options) as user:
            assert [item.name for item in user.run(user.client.list_prompts).prompts] == [
                prompt.name
            ]
            listed = user.run(user.client.list_resources).resources
            assert [item.uri for item in listed] == [resource.uri]
            with pytest.raises(MCPError):
                user.run(partial(user.client.read_resource, "docs://other"))


@every_way
def test_a_shortened_answer_is_read_whole_by_its_caller_alone(
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_tool(name="echo", requires_context_management=True, token_budget=100)
    everything = make_toolset(includes_all=True)
    (_, mine), (_, other) = (make_client(toolsets=[everything]) for _ in range(2))
    records = [{"id": number, "note": "x" * 40} for number in range(200)]
    answer = door.call(
        "echo", {"records": records}, headers={"Authorization": f"Bearer {mine}"}
    ).json()
    address = f"result://{answer['request_id']}"
    with user_of(door.url, way, key=mine) as user:
        whole = user.run(partial(user.client.read_resource, address)).contents[0]
        part = f"{address}?pointer=/echo/records&page=10&page_size=20"
        page = user.run(partial(user.client.read_resource, part)).contents[0]
    assert json.loads(whole.text) == {"echo": {"records": records}}
    assert json.loads(page.text)["items"] == records[180:]
    with user_of(door.url, way, key=other) as user, pytest.raises(MCPError):
        user.run(partial(user.client.read_resource, address))
