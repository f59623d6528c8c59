"""What became of one answer in the context budget: passed through as it was, or summarised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TOKEN_BUDGET: Final = 2000
TARGET_REDUCTION: Final = 70.0


def reduction_percent(original_tokens: int, summary_tokens: int) -> float:
    """By how many percent of the original a summary is smaller."""
    return (original_tokens - summary_tokens) / original_tokens * 100


@dataclass(frozen=True, slots=True)
class ContextManagedResponse:
    """An answer before and after the budget. Cannot be built from figures that contradict each other.

    `budget` is the most tokens an answer may have without being summarised.
    """

    original_response: Any
    token_count: int
    was_summarized: bool
    final_response: Any
    final_token_count: int
    reduction_percent: float | None = None
    budget: int = TOKEN_BUDGET

    @classmethod
    def create_passthrough(
        cls, response: Any, token_count: int, budget: int = TOKEN_BUDGET
    ) -> ContextManagedResponse:
        """An answer within the budget, unchanged."""
        return cls(response, token_count, False, response, token_count, None, budget)

    @classmethod
    def create_summarized(
        cls,
        response: Any,
        original_tokens: int,
        summary: Any,
        summary_tokens: int,
        budget: int = TOKEN_BUDGET,
    ) -> ContextManagedResponse:
        """An answer above the budget and the summary that stands in for it."""
        if original_tokens <= 0:
            raise ValueError("token_count must be above 0")
        percent = reduction_percent(original_tokens, summary_tokens)
        return cls(response, original_tokens, True, summary, summary_tokens, percent, budget)

    def __post_init__(self) -> None:
        if self.token_count <= 0 or self.final_token_count <= 0:
            raise ValueError("token_count and final_token_count must be above 0")
        if self.was_summarized:
            self._check_summary()
        else:
            self._check_passthrough()

    def _check_summary(self) -> None:
        if self.final_token_count >= self.token_count:
            raise ValueError("a summary must have fewer tokens than the original")
        actual = reduction_percent(self.token_count, self.final_token_count)
        if self.reduction_percent is None or abs(self.reduction_percent - actual) > 0.01:
            raise ValueError(f"reduction_percent must be {actual:.2f}")
        if not self.meets_target():
            raise ValueError(f"a summary must be at least {TARGET_REDUCTION:g} % smaller")

    def _check_passthrough(self) -> None:
        if self.token_count > self.budget:
            raise ValueError(f"more than {self.budget} tokens must be summarised")
        if self.final_token_count != self.token_count or self.reduction_percent is not None:
            raise ValueError("an answer that is passed through keeps its size")
        if self.final_response is not self.original_response and (
            self.final_response != self.original_response
        ):
            raise ValueError("an answer that is passed through is not changed")

    def meets_target(self) -> bool:
        """Whether the answer is small enough: passed through, or at least 70 % smaller."""
        return not self.was_summarized or (self.reduction_percent or 0.0) >= TARGET_REDUCTION
