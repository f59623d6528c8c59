"""What an upstream server answered, as the doors pass it on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.execution.test_dispatch import spec
from tools.contracts import ToolSource
from tools.execution.passing import Passed, passed_on, result_to_check, without_media

UPSTREAM = spec(source=ToolSource.UPSTREAM)
ANNOUNCED = spec(source=ToolSource.UPSTREAM, output_schema={"type": "object", "properties": {}})
TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
BLOB = {
    "type": "resource",
    "resource": {"uri": "a://b", "blob": "aGk=", "mimeType": "application/pdf"},
}
PAGE = {"type": "resource", "resource": {"uri": "a://b", "text": "The page."}}
LINK = {"type": "resource_link", "uri": "a://b", "name": "b"}


@pytest.mark.parametrize("raw", [{"content": [TEXT]}, "text", 7, None, [1]])
def test_what_is_not_from_an_upstream_server_is_answered_as_it_is(raw: Any) -> None:
    assert passed_on(spec(), raw) == Passed(raw)
    assert result_to_check(spec(), raw) == raw


def test_texts_are_passed_as_blocks_and_the_result_stays_whole() -> None:
    raw = {"content": [TEXT], "_meta": {"a": 1}}
    assert passed_on(UPSTREAM, raw) == Passed({"content": [TEXT]}, raw)


def test_an_announced_structure_stands_for_the_texts_beside_it() -> None:
    raw = {"content": [TEXT], "structuredContent": {"id": 1}}
    assert passed_on(ANNOUNCED, raw) == Passed({"id": 1}, raw)
    assert result_to_check(ANNOUNCED, raw) == {"id": 1}


@pytest.mark.parametrize("text", ['{"id": 1}', '{\n  "id": 1\n}'])
def test_a_structure_that_was_not_announced_stands_for_a_text_that_repeats_it(text: str) -> None:
    raw = {"content": [{"type": "text", "text": text}], "structuredContent": {"id": 1}}
    assert passed_on(UPSTREAM, raw).data == {"id": 1}
    wrapped = {"content": [TEXT], "structuredContent": {"result": "hello"}}
    assert passed_on(UPSTREAM, wrapped).data == {"result": "hello"}
    assert passed_on(UPSTREAM, {"content": [], "structuredContent": {"id": 1}}).data == {"id": 1}


def test_texts_that_say_more_than_the_structure_are_not_lost() -> None:
    raw = {"content": [TEXT], "structuredContent": {"id": 1}}
    assert passed_on(UPSTREAM, raw).data == raw


@pytest.mark.parametrize("block", [IMAGE, SOUND, BLOB])
def test_pictures_sounds_and_files_are_never_cut(block: dict[str, Any]) -> None:
    raw = {"content": [TEXT, block], "structuredContent": {"id": 1}}
    passed = passed_on(ANNOUNCED, raw)
    assert passed.media == (block,)
    assert passed.data == raw


@pytest.mark.parametrize("block", [PAGE, LINK])
def test_links_and_texts_of_resources_count_as_text(block: dict[str, Any]) -> None:
    passed = passed_on(UPSTREAM, {"content": [block]})
    assert passed.media == ()
    assert without_media(passed) == {"content": [block]}


def test_a_word_stands_for_each_picture_where_only_text_counts() -> None:
    passed = passed_on(UPSTREAM, {"content": [TEXT, IMAGE, SOUND, BLOB]})
    assert without_media(passed) == {
        "content": [
            TEXT,
            {"type": "text", "text": "[image image/png]"},
            {"type": "text", "text": "[audio audio/wav]"},
            {"type": "text", "text": "[resource application/pdf]"},
        ]
    }
    assert passed.data["content"][1] == IMAGE


def test_only_the_structure_has_to_fit_the_schema() -> None:
    assert result_to_check(UPSTREAM, {"content": [TEXT]}) is None
    assert result_to_check(UPSTREAM, {"kept": "from a cache"}) == {"kept": "from a cache"}
