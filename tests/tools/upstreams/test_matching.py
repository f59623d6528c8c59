"""What two lists of pieces share, and when looking for it is given up."""

from __future__ import annotations

import pytest

from tools.upstreams.matching import Budget, runs

OLD, NEW = list("one file"), list("two files")


def test_runs_are_on_both_sides_or_on_one() -> None:
    found = runs(["a", "b", "c"], ["a", "c", "d"], Budget())
    assert found == [
        ("equal", 0, 1, 0, 1),
        ("delete", 1, 2, 1, 1),
        ("equal", 2, 3, 1, 2),
        ("insert", 3, 3, 2, 3),
    ]


@pytest.mark.parametrize("steps", [0, 5, 20, 30])
def test_a_budget_is_never_overdrawn(steps: int) -> None:
    budget = Budget(steps)
    assert runs(OLD, NEW, budget) is None
    assert 0 <= budget.left <= steps


def test_what_is_left_after_a_refusal_serves_something_smaller() -> None:
    budget = Budget(20)
    assert runs(OLD, NEW, budget) is None
    assert runs(["a"], ["a"], budget) == [("equal", 0, 1, 0, 1)]


def test_a_word_in_a_long_text_costs_little_more_than_reading_it() -> None:
    words = [f"word{number % 7}" for number in range(1_900)]
    changed = [*words[:900], "another", *words[901:]]
    budget = Budget(2 * len(words) + 10)
    found = runs(words, changed, budget)
    assert [one[0] for one in found or ()] == ["equal", "replace", "equal"]
    assert runs(words, words, Budget()) == [("equal", 0, 1_900, 0, 1_900)]


def test_shares_are_equal_and_none_takes_anothers() -> None:
    greedy, modest = Budget(100).shares(2)
    assert runs(OLD * 9, NEW * 9, greedy) is None
    assert (modest.left, runs(["a"], ["b"], modest)) == (50, [("replace", 0, 1, 0, 1)])


def test_several_comparisons_share_one_budget() -> None:
    budget = Budget(1_000)
    answered = [runs(OLD, NEW, budget) is not None for _ in range(30)]
    assert answered[0]
    assert not answered[-1]
    assert answered == sorted(answered, reverse=True)
