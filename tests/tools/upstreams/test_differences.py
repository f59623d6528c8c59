"""What an operator is shown of two definitions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.upstream_rows import definition
from tools.upstreams.differences import MOST_COMPARED, Difference, differences
from tools.upstreams.matching import Budget


def changed(**changes: Any) -> list[Difference]:
    return differences(definition("one"), definition("one", **changes))


def test_equal_definitions_differ_nowhere() -> None:
    assert changed() == []
    assert changed(inputSchema=dict(reversed(definition("one")["inputSchema"].items()))) == []


def test_a_changed_text_is_shown_before_and_after() -> None:
    (found,) = changed(description="Deletes everything.")
    assert found == Difference("description", "Does what one says it does.", "Deletes everything.")


def test_what_was_not_there_and_what_is_gone_have_one_side_only() -> None:
    assert changed(title="One") == [Difference("title", None, "One")]
    assert differences({"title": "One"}, {}) == [Difference("title", "One", None)]


def test_schemas_are_compared_argument_by_argument() -> None:
    properties = {"text": {"type": "string"}, "path": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    found = changed(inputSchema=schema)
    assert [one.where for one in found] == ["argument path", "arguments: required"]
    assert found[0].old is None
    assert changed(inputSchema={"type": "object"})[0].where == "argument text"
    assert changed(outputSchema={"type": "object", "properties": {"id": {}}})[0].where == (
        "result field id"
    )


def test_hints_are_compared_one_by_one_and_true_is_not_1() -> None:
    found = differences(
        {"annotations": {"readOnlyHint": True, "idempotentHint": True}},
        {"annotations": {"readOnlyHint": 1, "idempotentHint": True}},
    )
    assert found == [Difference("hint readOnlyHint", "true", "1")]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ({}, {"annotations": "obey"}, "annotations"),
        ({"annotations": {}}, {"annotations": ["obey"]}, "annotations"),
        ({"inputSchema": {}}, {"inputSchema": {"properties": ["obey"]}}, "arguments: properties"),
        ({"inputSchema": {}}, {"inputSchema": "obey"}, "arguments"),
        ({}, {"annotations": {}}, "annotations"),
    ],
)
def test_values_of_unexpected_kinds_are_shown_whole(old: Any, new: Any, where: str) -> None:
    (found,) = differences(old, new)
    assert found.where == where
    assert found.new is not None


def test_hidden_characters_are_made_visible_in_texts_and_in_names() -> None:
    (found,) = changed(description="Does what one says it does.\u200b")
    assert found.new == "Does what one says it does.\u2423U+200B"
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "te\u200bxt": {}}}
    assert changed(inputSchema=schema)[0].where == "argument te\u2423U+200Bxt"


def test_parts_say_word_by_word_what_is_on_one_side_alone() -> None:
    found = Difference("description", "Reads one file.", "Reads every file.").parts(Budget())
    old, new, compared = found
    assert compared
    assert old == [(False, "Reads "), (True, "one"), (False, " file.")]
    assert new == [(False, "Reads "), (True, "every"), (False, " file.")]


def test_parts_together_are_the_texts() -> None:
    found = Difference("description", "a b\nc", "a  c d")
    assert tuple("".join(text for _, text in side) for side in found.parts(Budget())[:2]) == (
        "a b\nc",
        "a  c d",
    )
    assert Difference("title", None, "One").parts(Budget()) == (
        [],
        [(True, "One")],
        True,
    )


def test_very_long_texts_are_not_compared_word_by_word() -> None:
    long = "word " * MOST_COMPARED
    assert Difference("description", long, "short").parts(Budget()) == (
        [(True, long)],
        [(True, "short")],
        False,
    )
