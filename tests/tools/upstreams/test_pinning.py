"""What of a definition is pinned, and the hash it is known by."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.upstream_rows import definition
from tools.upstreams import Kind, fingerprint, pinned

BASE = definition(
    "one",
    title="One",
    annotations={"readOnlyHint": True},
    outputSchema={"type": "object"},
    _meta={"version": "1.0"},
    icons=[{"src": "https://example.org/one.png"}],
)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def shuffled(value: Any) -> Any:
    """The same, with the keys of every object in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(max_size=8), values, max_size=5))
def test_the_order_of_keys_does_not_matter(schema: dict[str, Any]) -> None:
    one = {**BASE, "inputSchema": schema}
    assert fingerprint(Kind.TOOL, one) == fingerprint(Kind.TOOL, shuffled(one))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "two"},
        {"title": "Two"},
        {"description": BASE["description"] + " "},
        {"description": BASE["description"] + "\u200b"},
        {"inputSchema": {"type": "object", "properties": {"text": {"type": "number"}}}},
        {"outputSchema": None},
        {"annotations": {"readOnlyHint": False}},
        {"annotations": {"readOnlyHint": 1}},
        {"annotations": None},
    ],
)
def test_what_a_model_reads_or_a_client_acts_on_changes_the_hash(change: dict[str, Any]) -> None:
    assert fingerprint(Kind.TOOL, {**BASE, **change}) != fingerprint(Kind.TOOL, BASE)


@pytest.mark.parametrize("change", [{"_meta": {"version": "2.0"}}, {"icons": []}, {"other": 1}])
def test_what_misleads_nobody_does_not(change: dict[str, Any]) -> None:
    assert fingerprint(Kind.TOOL, {**BASE, **change}) == fingerprint(Kind.TOOL, BASE)


def test_null_is_the_same_as_absent() -> None:
    absent = {key: value for key, value in BASE.items() if key != "title"}
    assert fingerprint(Kind.TOOL, {**BASE, "title": None}) == fingerprint(Kind.TOOL, absent)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Kind.PROMPT, {"name", "title", "description", "arguments"}),
        (Kind.RESOURCE, {"uri", "name", "title", "description", "mimeType"}),
        (Kind.TEMPLATE, {"uriTemplate", "name", "title", "description", "mimeType"}),
    ],
)
def test_prompts_and_resources_are_pinned_as_well(kind: Kind, keys: set[str]) -> None:
    offered = dict.fromkeys((*keys, "_meta", "size", "annotations"), "x")
    assert set(pinned(kind, offered)) == keys
    for key in keys:
        assert fingerprint(kind, {**offered, key: "y"}) != fingerprint(kind, offered)
