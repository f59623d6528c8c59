"""What became of an answer in the budget: figures that contradict each other cannot be built."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.context.managed import ContextManagedResponse

ANSWER = {"animals": [1, 2, 3]}
SUMMARY = {"animals": [1]}


def test_it_has_the_fields_of_the_data_model() -> None:
    # S4-031
    names = [field.name for field in fields(ContextManagedResponse)]

    assert names[:6] == [
        "original_response",
        "token_count",
        "was_summarized",
        "final_response",
        "final_token_count",
        "reduction_percent",
    ]


def test_an_answer_of_exactly_2000_tokens_passes_unchanged() -> None:
    # S4-032, S4-035, F4-16
    passed = ContextManagedResponse.create_passthrough(ANSWER, 2000)

    assert passed.final_response is ANSWER
    assert passed.final_token_count == 2000
    assert passed.reduction_percent is None
    assert not passed.was_summarized
    assert passed.meets_target()  # S4-036


def test_an_answer_of_2001_tokens_cannot_pass() -> None:
    # S4-033, S4-040
    with pytest.raises(ValueError, match="more than 2000 tokens"):
        ContextManagedResponse.create_passthrough(ANSWER, 2001)


def test_a_tool_with_another_budget_moves_the_boundary() -> None:
    assert ContextManagedResponse.create_passthrough(ANSWER, 5000, budget=5000).token_count == 5000
    with pytest.raises(ValueError, match="more than 500 tokens"):
        ContextManagedResponse.create_passthrough(ANSWER, 501, budget=500)


def test_the_reduction_is_the_share_of_tokens_saved() -> None:
    # S4-034, S4-035, S4-036
    summarised = ContextManagedResponse.create_summarized(ANSWER, 4000, SUMMARY, 1000)

    assert summarised.reduction_percent == 75.0
    assert summarised.was_summarized
    assert summarised.final_response is SUMMARY
    assert summarised.final_token_count == 1000
    assert summarised.meets_target()


def test_a_reduction_of_exactly_70_percent_is_enough() -> None:
    # S4-039, F4-05: 3500 tokens become 1050.
    assert ContextManagedResponse.create_summarized(ANSWER, 3500, SUMMARY, 1050).meets_target()


def test_a_reduction_below_70_percent_is_refused() -> None:
    # S4-039
    with pytest.raises(ValueError, match="at least 70 % smaller"):
        ContextManagedResponse.create_summarized(ANSWER, 3500, SUMMARY, 1051)


@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0), (-5, 1), (100, -1)])
def test_counts_must_be_above_zero(before: int, after: int) -> None:
    # S4-037
    with pytest.raises(ValueError, match="above 0"):
        ContextManagedResponse.create_summarized(ANSWER, before, SUMMARY, after)
    with pytest.raises(ValueError, match="above 0"):
        ContextManagedResponse.create_passthrough(ANSWER, 0)


@pytest.mark.parametrize("after", [4000, 4001])
def test_a_summary_as_large_as_the_original_is_refused(after: int) -> None:
    # S4-038
    with pytest.raises(ValueError, match="fewer tokens"):
        ContextManagedResponse.create_summarized(ANSWER, 4000, SUMMARY, after)


@pytest.mark.parametrize(
    "changes",
    [
        {"final_response": SUMMARY},
        {"final_token_count": 5},
        {"reduction_percent": 10.0},
    ],
)
def test_what_passes_is_not_changed_in_any_respect(changes: dict[str, Any]) -> None:
    # S4-040
    figures: dict[str, Any] = {
        "original_response": ANSWER,
        "token_count": 10,
        "was_summarized": False,
        "final_response": dict(ANSWER),
        "final_token_count": 10,
    }
    assert ContextManagedResponse(**figures).meets_target()

    with pytest.raises(ValueError, match="passed through"):
        ContextManagedResponse(**{**figures, **changes})


@pytest.mark.parametrize("percent", [None, 70.0, 99.0])
def test_a_reduction_that_does_not_follow_from_the_counts_is_refused(percent: float | None) -> None:
    with pytest.raises(ValueError, match=r"reduction_percent must be 75\.00"):
        ContextManagedResponse(ANSWER, 4000, True, SUMMARY, 1000, percent)


def test_it_cannot_be_changed_afterwards() -> None:
    passed = ContextManagedResponse.create_passthrough(ANSWER, 10)

    with pytest.raises(FrozenInstanceError):
        passed.token_count = 5  # type: ignore[misc]


@given(st.integers(2001, 10**7), st.integers(1, 10**7))
def test_a_summary_can_be_built_exactly_when_it_saves_70_percent(before: int, after: int) -> None:
    # S4-038, S4-039
    small_enough = after * 10 <= before * 3
    try:
        built = ContextManagedResponse.create_summarized(ANSWER, before, SUMMARY, after)
    except ValueError:
        assert not small_enough
    else:
        assert small_enough
        assert built.meets_target()
