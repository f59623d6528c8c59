"""What rows take over from definitions, whatever these are like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.upstream_rows import definition
from tools.services.upstream_definitions import (
    DEEPEST,
    MOST_METADATA,
    MOST_TAGS,
    prompt_fields,
    resource_fields,
    storable,
    tool_fields,
    unpinned,
)
from tools.upstreams import Kind

texts = st.text(st.characters() | st.sampled_from("\0\ud800\udfff"), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_what_is_stored_is_json_that_every_database_keeps(value: Any) -> None:
    kept = storable(value)
    written = json.dumps(kept, allow_nan=False, ensure_ascii=False)
    assert "\0" not in written
    assert "\\u0000" not in written
    written.encode()
    assert storable(kept) == kept


@given(values, st.dictionaries(texts, values, max_size=4))
def test_no_definition_of_any_kind_breaks_what_is_taken_over(value: Any, rest: Any) -> None:
    for key in ("name", "title", "description", "inputSchema", "outputSchema", "annotations"):
        fields, _ = tool_fields({**definition("one"), key: value}, rest, "A stand-in.")
        assert fields["input_schema"]["type"] == "object"
        assert fields["description"].strip()
        assert len(fields["title"]) <= 200
    for key in ("title", "description", "arguments"):
        prompt_fields({"name": "ask", key: value})
    for key in ("name", "title", "description", "mimeType"):
        fields, _ = resource_fields(Kind.RESOURCE, {"uri": "a://b", key: value}, rest)
        assert fields["name"]


def test_endless_depth_is_cut() -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"a": [deep]}
    assert json.dumps(storable(deep)).count("a") <= DEEPEST


@pytest.mark.parametrize(
    ("meta", "tags"),
    [
        ({"tags": ["a", "b", "a", "", " ", 7]}, ["a", "b"]),
        ({"fastmcp": {"tags": ["c"]}}, ["c"]),
        ({"_fastmcp": {"tags": ["d"]}}, ["d"]),
        ({"tags": "a"}, []),
        ({}, []),
        ({"tags": [f"t{n}" for n in range(100)]}, [f"t{n}" for n in range(MOST_TAGS)]),
    ],
)
def test_tags_are_taken_from_where_servers_put_them(meta: Any, tags: list[str]) -> None:
    # S2-018
    assert tool_fields(definition("one"), {"_meta": meta}, "x")[0]["tags"] == tags


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ({}, (False, False, False)),
        ({"readOnlyHint": True}, (True, False, False)),
        ({"readOnlyHint": True, "destructiveHint": True}, (True, False, False)),
        ({"destructiveHint": True, "idempotentHint": True}, (False, True, True)),
        ({"readOnlyHint": "yes", "idempotentHint": 1}, (False, False, False)),
        ("read only", (False, False, False)),
    ],
)
def test_only_hints_that_say_true_count(hints: Any, expected: tuple[bool, ...]) -> None:
    fields, _ = tool_fields(definition("one", annotations=hints), {}, "x")
    found = tuple(fields[name] for name in ("read_only", "destructive", "idempotent"))
    assert found == expected


def test_what_is_not_pinned_is_kept_up_to_a_limit() -> None:
    offered = definition("one", _meta={"version": "1"}, icons=[{"src": "a"}])
    assert unpinned(Kind.TOOL, offered) == {"_meta": {"version": "1"}, "icons": [{"src": "a"}]}
    large = "x" * MOST_METADATA
    assert unpinned(Kind.TOOL, {**offered, "icons": large}) == {"_meta": {"version": "1"}}
    assert unpinned(Kind.TOOL, {**offered, "_meta": {"a": large}}) == {}


def test_arguments_of_prompts_without_a_name_of_their_own_are_left_out_and_told() -> None:
    listed = [{"name": "who", "required": True}, {"name": "who"}, {"name": ""}, "what", {}]
    fields, findings = prompt_fields({"name": "ask", "arguments": listed})
    assert [one["name"] for one in fields["arguments"]] == ["who"]
    assert fields["arguments"][0]["required"] is True
    assert len(findings) == 4


def test_a_resource_keeps_what_can_be_kept_of_it() -> None:
    offered = {"uri": "a://b", "name": " ", "mimeType": "no type", "title": "T"}
    rest = {"annotations": {"audience": ["user", "robot"], "priority": 7}}
    fields, (finding,) = resource_fields(Kind.RESOURCE, offered, rest)
    assert (fields["name"], fields["mime_type"], fields["title"]) == ("a://b", "", "T")
    assert (fields["audience"], fields["priority"]) == (["user"], None)
    assert "no media type" in finding.text
