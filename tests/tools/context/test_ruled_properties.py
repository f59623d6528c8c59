"""What holds for every value that is shortened by rules, whatever they say."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.tools.context.test_shrink_properties import answers
from tools.backends.read_result import resolve
from tools.context.cutter import ShrinkResult
from tools.context.paths import Pattern, spots
from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.summaries import SUMMARIES
from tools.context.tokens import count_json
from tools.errors import SummarizationFailed

BUDGET = 60

names = st.sampled_from(["id", "contact", "name", "notes", "a/b", "", "total", "records", "key1"])
paths = st.lists(names.filter(bool), min_size=1, max_size=3).map(".".join) | st.just("$.records")
tops = st.fixed_dictionaries(
    {"path": paths, "by": st.just("") | names, "count": st.integers(1, 4)},
    optional={"floor": st.integers(-5, 5)},
)
lists = {
    "keep": st.lists(paths, max_size=2),
    "drop": st.lists(paths, max_size=2),
    "whole": st.lists(paths, max_size=1),
    "page": st.lists(paths, max_size=2),
    "top": st.lists(tops, max_size=2),
}
summaries = {"summary": st.sampled_from(sorted(SUMMARIES))}
plain_rules = st.fixed_dictionaries({}, optional=lists)
rules = st.fixed_dictionaries({}, optional={**lists, **summaries})
relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def reduced(value: Any, written: dict[str, Any]) -> ShrinkResult | None:
    try:
        return reduce(
            value, tokens=count_json(value), budget=BUDGET, rules=Rules.from_json(written)
        )
    except SummarizationFailed:
        return None


@relaxed
@given(answers(), rules)
def test_any_rules_give_valid_and_70_percent_smaller_answers_and_always_the_same(
    value: Any, written: dict[str, Any]
) -> None:
    # S4-039, C16
    before = count_json(value)
    assume(before > BUDGET)
    result = reduced(value, written)

    must_stay = written.get("keep") or written.get("whole")
    assert result is not None or must_stay or before < 100 or isinstance(value, int | float)
    if result is not None:
        assert json.loads(json.dumps(result.value, allow_nan=False)) == result.value
        assert result.tokens == count_json(result.value)
        assert result.tokens * 10 <= before * 3
    assert reduced(json.loads(json.dumps(value)), written) == result


@relaxed
@given(answers(), plain_rules)
def test_what_is_kept_is_there_as_often_as_it_was(value: Any, written: dict[str, Any]) -> None:
    # C16
    assume(count_json(value) > BUDGET)
    result = reduced(value, written)
    assume(result is not None)
    assert result is not None
    entries = dict(list(result.value.items())[:-1])
    cut = entries if isinstance(value, dict) else entries["result"]

    for path in written.get("keep", []):
        pattern = Pattern.parse(path)
        kept = [json.dumps(spot.value) for spot in spots(value, pattern)]
        left = [json.dumps(spot.value) for spot in spots(cut, pattern)]
        assert left == kept


@relaxed
@given(answers(), plain_rules)
def test_places_in_the_report_are_places_of_the_original(
    value: Any, written: dict[str, Any]
) -> None:
    # F4-07
    assume(count_json(value) > BUDGET)
    result = reduced(value, written)
    assume(result is not None)
    assert result is not None
    report = list(result.value.values())[-1]
    assume(report is not True)

    for entry in report:
        if "next" in entry:
            found = resolve(value, entry["next"]["pointer"])
            assert isinstance(found, dict | list | str)
            assert entry["kept"] < entry["total"]
            assert "places" in entry or len(found) == entry["total"]
