"""Shortens a JSON value to a number of tokens and says in it what was left out.

Values of preserved keys, and the way to them, always stay; of the rest as much as there is room for.
The result is an object with a report of what is missing under `_omitted`, whose pointers lead
into the original value; a list or a text at the top becomes `{"result": …}` to make room for it.

Room is measured in characters, which is cheap, and adjusted in a few rounds until the exact token
count of the outcome fits. Only the parts that may stay are looked at closely, so the cost follows
the size of the outcome rather than that of the original.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from tools.context.cutter import Cutter, ShrinkResult
from tools.context.marks import Marks
from tools.context.tokens import count_json
from tools.errors import ErrorDetails, SummarizationFailed

__all__ = ["ShrinkResult", "most_tokens", "shrink"]

ROOM_BESIDE_PRESERVED: Final = 400
MOST_REPORTED: Final = 8
ROUNDS: Final = 10
# A first guess for JSON; the rounds correct it.
CHARACTERS_PER_TOKEN: Final = 3
CLOSE_ENOUGH: Final = 0.9


def shrink(
    value: Any,
    *,
    budget: int,
    preserve: Collection[str] = (),
    reduction: float = 0.70,
    tokens: int | None = None,
    marks: Marks | None = None,
    cursors: bool = False,
) -> ShrinkResult:
    """`value` shortened to at most `1 - reduction` of its tokens, and to `budget` where possible.

    Above `budget` it stays only if what must be preserved leaves no other choice. `tokens` is the
    count of `value` where the caller knows it already, or of the original where rules took parts of
    it away. `marks` is what rules say about it. With `cursors` the report says how to read on.

    Raises:
        SummarizationFailed: when the preserved parts alone are more than `1 - reduction`.
    """
    before = count_json(value) if tokens is None else tokens
    most = most_tokens(before, reduction)
    target = min(budget, most)
    cutter = Cutter(value, marks or Marks(names=frozenset(preserve)), cursors=cursors)
    if cutter.required and cutter.outcome(0, MOST_REPORTED).tokens > target:
        return _smallest(cutter, most)
    return _fitting(cutter, target) or _smallest(cutter, most)


def most_tokens(before: int, reduction: float = 0.70) -> int:
    """How many tokens are left of `before` when it is made smaller by this share."""
    # The addend undoes the rounding of 1 - reduction: 30 % of 3500 are 1050 tokens, not 1049.
    return int(before * (1 - reduction) + 1e-6)


def _fitting(cutter: Cutter, target: int) -> ShrinkResult | None:
    """The fullest outcome found within `target`, or None when even little room gives too much."""
    best: ShrinkResult | None = None
    fits = fails = 0
    room = max(cutter.required, target * CHARACTERS_PER_TOKEN)
    for _ in range(ROUNDS):
        outcome = cutter.outcome(room, MOST_REPORTED)
        ratio = target / outcome.tokens
        if ratio >= 1:
            fits = room
            if best is None or outcome.tokens >= best.tokens:
                best = outcome
            if ratio * CLOSE_ENOUGH <= 1 or cutter.complete:
                break
            room = (fits + fails) // 2 if fails else int(room * min(ratio, 4))
        else:
            # 0.95: landing just below the target ends the search, landing just above does not.
            room, fails = (fits + room) // 2 if fits or fails else int(room * ratio * 0.95), room
        if room == fits:
            break
    return best


def _smallest(cutter: Cutter, most: int) -> ShrinkResult:
    """The preserved parts and little else, with as much of a report as there is room for."""
    comfortable = cutter.required + ROOM_BESIDE_PRESERVED
    for room, entries in ((comfortable, MOST_REPORTED), (0, 1), (0, 0)):
        outcome = cutter.outcome(room, entries)
        if outcome.tokens <= most:
            return outcome
    raise SummarizationFailed(
        "The answer is too large and what must be kept of it cannot be shortened enough",
        ErrorDetails(
            expected=f"at most {most} tokens; the parts that must be kept have {outcome.tokens}",
            suggestion="Ask for less at once: a smaller page, fewer records or a narrower query",
        ),
    )
