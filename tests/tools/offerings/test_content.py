"""Arguments and messages of prompts: what is accepted, and what comes out."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest

from tools.offerings import (
    NotAnAddress,
    TooLong,
    argument_faults,
    block_faults,
    message_faults,
    render_messages,
)

PIXEL = "iVBORw0KGgo="
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "About {topic}"},
    {"type": "text", "text": "a", "annotations": {"audience": ["user"], "priority": 0.5}},
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "audio", "data": PIXEL, "mimeType": "audio/wav", "_meta": {"a": 1}},
    {"type": "resource", "resource": {"uri": "docs://a", "text": "for {topic}"}},
    {"type": "resource", "resource": {"uri": "{topic}", "blob": PIXEL, "mimeType": "image/png"}},
    {"type": "resource_link", "uri": "docs://{topic}", "name": "a", "size": 3},
]


@pytest.mark.parametrize("block", BLOCKS)
def test_block_that_the_protocol_knows_is_accepted(block: dict[str, Any]) -> None:
    assert block_faults(block, ["topic"], "content") == []
    message = {"role": "user", "content": block}
    (rendered,) = render_messages([message], {"topic": "docs://x"}, 1000)
    types.PromptMessage.model_validate(rendered, by_name=False)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("text", "content: Must be an object whose type is one of"),
        ({"type": ["text"]}, "content: Must be an object whose type is one of"),
        ({"type": "video"}, "content: Must be an object whose type is one of"),
        ({"type": "text"}, "content: Must have text."),
        ({"type": "text", "text": 5}, "content.text: Must be a text."),
        ({"type": "text", "text": "a", "size": 1}, "content.size: Not known"),
        ({"type": "text", "text": "{other}"}, "content.text: other is not among the arguments."),
        ({"type": "text", "text": '{"a": 1}'}, "content.text: The brace in"),
        ({"type": "image", "data": "?", "mimeType": "image/png"}, "content.data: Must be base64."),
        ({"type": "image", "data": PIXEL}, "content: Must have mimeType."),
        ({"type": "image", "data": PIXEL, "mimeType": "png"}, "content.mimeType: Must be a media"),
        ({"type": "text", "text": "a", "annotations": {"priority": 2}}, "a number from 0 to 1"),
        ({"type": "text", "text": "a", "annotations": {"audience": ["me"]}}, "list of"),
        ({"type": "resource", "resource": {"uri": "docs://a"}}, "Must have either text or blob."),
        (
            {"type": "resource", "resource": {"uri": "docs://a", "text": "", "blob": PIXEL}},
            "Must have either text or blob.",
        ),
        (
            {"type": "resource", "resource": {"uri": "guide", "text": "a"}},
            "content.resource.uri: Must be an absolute URI.",
        ),
        ({"type": "resource", "resource": []}, "content.resource: Must be an object."),
        ({"type": "resource_link", "uri": "docs://a"}, "content: Must have name."),
    ],
)
def test_block_that_clients_would_choke_on_is_refused(block: Any, told: str) -> None:
    assert told in " ".join(block_faults(block, ["topic"], "content"))


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ({}, "Must be a list of 1 to 100 messages."),
        ([], "Must be a list of 1 to 100 messages."),
        ([1], "[0]: Must be an object."),
        ([{"role": "user"}], "[0]: Must have content."),
        ([{"role": "system", "content": BLOCKS[0]}], "[0].role: Must be user or assistant."),
        ([{"role": "user", "content": BLOCKS[0]}] * 101, "Must be a list of 1 to 100 messages."),
    ],
)
def test_messages_outside_the_protocol_are_refused(messages: Any, told: str) -> None:
    assert told in message_faults(messages, ["topic"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "Must be a list of at most 50"),
        (["topic"], "[0]: Must be an object."),
        ([{}], "[0]: Must have name."),
        ([{"name": "a b"}], "[0].name: Must be letters, digits and underscores"),
        ([{"name": "a"}, {"name": "a"}], "[1].name: a is there twice."),
        ([{"name": "a", "required": "yes"}], "[0].required: Must be true or false."),
        ([{"name": "a", "choices": ["x", "x"]}], "[0].choices: Must be a list of different texts"),
        ([{"name": "a", "choices": [""]}], "[0].choices: Must be a list of different texts"),
        ([{"name": "a", "default": "x"}], "[0].default: Not known; use"),
        ([{"name": f"a{n}"} for n in range(51)], "Must be a list of at most 50"),
    ],
)
def test_arguments_that_cannot_be_shown_are_refused(arguments: Any, told: str) -> None:
    assert told in " ".join(argument_faults(arguments))


def test_arguments_may_have_a_title_a_description_and_suggestions() -> None:
    full = {"name": "a", "title": "A", "description": "a", "required": True, "choices": ["x", "y"]}
    assert argument_faults([full, {"name": "b"}]) == []


def test_rendering_leaves_the_definition_as_it_is() -> None:
    message = {
        "role": "user",
        "content": {"type": "resource", "resource": dict(BLOCKS[4]["resource"])},
    }
    render_messages([message], {"topic": "x"}, 1000)
    assert message["content"]["resource"]["text"] == "for {topic}"  # type: ignore[index]


def test_texts_of_all_messages_share_the_room() -> None:
    message = {"role": "user", "content": {"type": "text", "text": "{a}"}}
    assert len(render_messages([message] * 2, {"a": "xx"}, 4)) == 2
    with pytest.raises(TooLong):
        render_messages([message] * 3, {"a": "xx"}, 4)


def test_value_that_makes_no_address_is_refused() -> None:
    message = {"role": "user", "content": BLOCKS[5]}
    with pytest.raises(NotAnAddress):
        render_messages([message], {"topic": "not an address"}, 1000)
