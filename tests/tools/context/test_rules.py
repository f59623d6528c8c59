"""Rules as operators write them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tools.context.rules import Rules, Top, faults

WRITTEN = {
    "keep": ["contact", "data.id"],
    "drop": ["raw_data"],
    "top": [{"path": "data.traits", "by": "accuracy", "count": 3, "floor": 50}],
    "whole": ["data.parents"],
    "page": ["records"],
    "summary": "nsip_animal",
    "always": True,
}


def test_rules_are_read_and_written_back_as_they_were() -> None:
    rules = Rules.from_json(WRITTEN)

    assert rules.top == (Top("data.traits", "accuracy", 3, 50),)
    assert rules.keep == ("contact", "data.id")
    assert rules.to_json() == WRITTEN


def test_no_rules_are_rules_too() -> None:
    assert Rules.from_json({}) == Rules()
    assert Rules().to_json() == {}
    assert faults({}) == []


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], "JSON object"),
        ({"kepe": []}, "kepe is not a rule"),
        ({"keep": "contact"}, "keep is a list of paths"),
        ({"drop": [7]}, "drop is a list of paths"),
        ({"page": ["a..b"]}, "page: 'a..b'"),
        ({"whole": ["x"] * 101}, "at most 100"),
        ({"top": {"path": "a"}}, "top is a list"),
        ({"top": [{"path": "a", "by": "b"}]}, "count is a whole number"),
        ({"top": [{"path": "a", "by": "b", "count": True}]}, "count is a whole number"),
        ({"top": [{"path": "a", "by": 1, "count": 2}]}, "by is the field"),
        ({"top": [{"path": 5, "by": "b", "count": 2}]}, "path is a path"),
        ({"top": [{"path": "a", "by": "b", "count": 2, "floor": "x"}]}, "floor is a number"),
        ({"top": [{"path": "a", "by": "b", "count": 2, "most": 1}]}, "most is not known"),
        ({"summary": "haiku"}, "nsip_animal, nsip_lineage"),
        ({"summary": ["nsip_animal"]}, "summary is one of"),
        ({"summary": "nsip_animal", "always": 1}, "always is true or false"),
        ({"always": True}, "always needs a summary"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(written: Any, said: str) -> None:
    found = faults(written)

    assert len(found) == 1
    assert said in found[0]
    with pytest.raises(ValueError, match=re.escape(found[0])):
        Rules.from_json(written)


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert len(faults({"keep": 1, "drop": 2, "metadata": 3, "other": 4})) == 4
