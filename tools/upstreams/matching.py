"""Which pieces two texts share, found with a bounded amount of work.

What is compared may come from a server that nobody trusts yet. Looking for shared pieces takes time with the
cube of their number: 1,900 full stops beside 950 times `.,` take minutes. So work is counted where it is done,
and whoever shows several texts on one page gives all of them the same budget. What texts begin and end
alike with costs next to nothing, and so does the white space between words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Final

from typing_extensions import override

# About half a second. A text of 700 words, of which every seventh is another, takes less.
MOST_STEPS: Final = 5_000_000

# What became of a run (difflib's word for it), and where it is on either side.
Run = tuple[str, int, int, int, int]


class Exhausted(Exception):
    """There is more to compare than the budget allows."""


class Budget:
    """How much work may still be done; a step looks at one place where two pieces are alike."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take these steps before they are made.

        Raises:
            Exhausted: there are fewer left. They stay for something smaller.
        """
        if steps > self.left:
            raise Exhausted
        self.left -= steps

    def shares(self, count: int) -> list[Budget]:
        """As many budgets of the same size, for texts of which none may take another's."""
        return [Budget(self.left // count) for _ in range(count)]


def runs(
    old: Sequence[str], new: Sequence[str], budget: Budget, *, skip_frequent: bool = False
) -> list[Run] | None:
    """Runs of pieces that both have, and of those that one has; None when the budget is too small.

    `skip_frequent`: what comes again and again in a long text, such as a line with a brace, is found beside
    something rarer, and not by itself.
    """
    try:
        # Reading them is work as well, and keeps the many small ones from being free.
        budget.spend(len(old) + len(new))
        # In lines they are searched like the rest: of an object put in, its own brace is to be marked.
        first = 0 if skip_frequent else _alike(old, new)
        last = 0 if skip_frequent else _alike(old[first:][::-1], new[first:][::-1])
        inside = old[first : len(old) - last], new[first : len(new) - last]
        found = _Matcher(*inside, budget, skip_frequent).get_opcodes()
    except Exhausted:
        return None
    return list(_around(found, len(old), len(new), first, last))


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """With how many equal pieces they begin."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(old), len(new)))


def _around(found: Sequence[Run], old: int, new: int, first: int, last: int) -> Iterator[Run]:
    """Runs of what is between the `first` and the `last` pieces, with those; `old` and `new` count them all.

    No two equal runs meet: where the equal ends stop, the pieces differ.
    """
    if first:
        yield "equal", 0, first, 0, first
    for kind, start, end, begin, stop in found:
        yield kind, start + first, end + first, begin + first, stop + first
    if last:
        yield "equal", old - last, old, new - last, new


class _Matcher(SequenceMatcher[str]):
    """Pays for each search before it is made."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], budget: Budget, skip_frequent: bool
    ) -> None:
        # White space is found beside what it stands between, and not by itself.
        super().__init__(str.isspace, old, new, autojunk=skip_frequent)
        self._budget = budget
        # Each piece is held against all its equals on the other side, in whatever part is searched.
        # The stubs lack the attribute, which difflib documents.
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        costs = (1 + len(places.get(piece, ())) for piece in old)
        self._costs = list(accumulate(costs, initial=0))

    @override
    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        self._budget.spend(self._costs[-1 if ahi is None else ahi] - self._costs[alo])
        return super().find_longest_match(alo, ahi, blo, bhi)
