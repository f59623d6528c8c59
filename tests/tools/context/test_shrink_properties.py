"""What holds for every value that is shortened."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tools.context.shrink import ShrinkResult, shrink
from tools.context.tokens import count_json
from tools.errors import SummarizationFailed

BUDGET = 60
PRESERVED = ("id", "contact")

words = st.sampled_from(["ewe", "ram ", "Größe ", "日本語。", "\n", '"quoted" ', "x" * 40, "😀"])
texts = st.lists(words, max_size=60).map("".join)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
keys = st.sampled_from(["id", "contact", "name", "notes", "a/b", "c~d", "", "_omitted"]) | st.text(
    max_size=8
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(keys, inner, max_size=8),
    max_leaves=80,
)


@st.composite
def answers(draw: st.DrawFn) -> Any:
    """A tree, or many copies of one, as tools answer with lists of like records."""
    tree = draw(trees)
    copies = draw(st.integers(1, 60))
    if copies == 1:
        return tree
    many: Any = [tree] * copies
    if draw(st.booleans()):
        many = {f"key{n}": item for n, item in enumerate(many)}
    return {"total": copies, "records": many} if draw(st.booleans()) else many


def shortened(value: Any, preserve: tuple[str, ...] = ()) -> ShrinkResult | None:
    try:
        return shrink(value, budget=BUDGET, preserve=preserve)
    except SummarizationFailed:
        return None


def preserved_in(value: Any, way: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Every preserved value, with the keys on the way to it, in the order of the document."""
    if isinstance(value, list):
        return [found for item in value for found in preserved_in(item, (*way, "*"))]
    if not isinstance(value, dict):
        return []
    return [
        found
        for key, child in value.items()
        for found in (
            [((*way, key), json.dumps(child))]
            if key in PRESERVED
            else preserved_in(child, (*way, key))
        )
    ]


def content(value: Any, result: ShrinkResult) -> Any:
    """The shortened value without its report and without the wrapping of lists and texts."""
    if not isinstance(value, dict):
        return result.value["result"]
    return dict(list(result.value.items())[:-1])


def is_cut_of(cut: Any, original: Any) -> bool:
    """Whether `cut` is `original` with keys, last items and ends of long texts left out."""
    if isinstance(original, dict):
        # Entries stay in their order.
        order = [key for key in original if key in cut] if isinstance(cut, dict) else None
        return order == list(cut) and all(is_cut_of(cut[key], original[key]) for key in cut)
    if isinstance(original, list):
        return (
            isinstance(cut, list)
            and len(cut) <= len(original)
            and all(map(is_cut_of, cut, original))
        )
    if isinstance(original, str) and cut != original:
        return str(cut).endswith("…") and original.startswith(cut[:-1])
    return bool(cut == original and type(cut) is type(original))


relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_repeatable(value: Any, preserve: tuple[str, ...], first: ShrinkResult | None) -> None:
    second = shortened(json.loads(json.dumps(value)), preserve)
    assert first == second
    if first is not None and second is not None:
        assert json.dumps(first.value) == json.dumps(second.value)


@relaxed
@given(answers())
def test_any_value_becomes_70_percent_smaller_in_its_own_shape_and_always_the_same(
    value: Any,
) -> None:
    # S4-039, C16
    before = count_json(value)
    assume(before > BUDGET)
    result = shortened(value)

    # Without preserved keys only a lone number or a tiny value has nothing to leave out.
    assert result is not None or before < 100 or isinstance(value, int | float)
    if result is not None:
        assert json.loads(json.dumps(result.value, allow_nan=False)) == result.value
        assert result.tokens == count_json(result.value)
        assert result.tokens * 10 <= before * 3
        assert is_cut_of(content(value, result), value)
    assert_repeatable(value, (), result)


@relaxed
@given(answers())
def test_preserved_keys_keep_their_values_and_their_places_or_shortening_fails(value: Any) -> None:
    # C16: never drops preserve-list fields; fails when they alone are too large.
    before = count_json(value)
    assume(before > BUDGET)
    result = shortened(value, PRESERVED)

    if result is not None:
        assert result.tokens == count_json(result.value)
        assert result.tokens * 10 <= before * 3
        assert preserved_in(content(value, result)) == preserved_in(value)
    elif before > 200 and not isinstance(value, int | float):
        assert sum(count_json(found) for found in preserved_in(value)) * 10 > before * 2
    assert_repeatable(value, PRESERVED, result)
