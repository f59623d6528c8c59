"""Calls that ended in several ways, added up: how many ended how, their numbers, and their times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import orjson

from tools.errors import CallStatus
from tools.figures.sketch import Sketch, may_reach
from tools.figures.tally import NUMBERS, Number

_SUCCESS = CallStatus.SUCCESS.value
# Not the members of `Number`: they are slow to look something up by.
_PLACES: Final = range(len(NUMBERS))
SLOW: Final = 0.95


class Summed:
    """Sums over calls. Times of calls that succeeded are apart from those of the others."""

    __slots__ = ("endings", "failed", "numbers", "sketch")

    def __init__(self) -> None:
        # By status and code.
        self.endings: dict[tuple[str, str], int] = {}
        self.numbers: list[float] = [0] * len(NUMBERS)
        self.sketch = Sketch()
        self.failed = Sketch()

    def count(self, numbers: Iterable[float], places: Iterable[int] = _PLACES) -> None:
        """Add to numbers: to those at `places`, or to all."""
        mine = self.numbers
        for place, number in zip(places, numbers, strict=True):
            mine[place] += number

    def add(self, status: str, code: str, calls: int, sketches: str) -> None:
        """Add how calls ended that ended alike, and how long they took: sketches as written."""
        self._end((status, code), calls)
        (self.sketch if status == _SUCCESS else self.failed).merge(sketches)

    def merge(self, endings: str, sketches: str, failed: str) -> None:
        """Add how other calls ended, and how long they took: all as written, with commas between."""
        ended = self.endings
        counted = ended.get
        for many in orjson.loads(f"[{endings}]"):
            for status, code, calls in many:
                ending = (status, code)
                ended[ending] = counted(ending, 0) + calls
        self.sketch.merge(sketches)
        self.failed.merge(failed)

    def include(self, other: Summed) -> None:
        """Add another's."""
        for ending, calls in other.endings.items():
            self._end(ending, calls)
        self.count(other.numbers)
        self.sketch.include(other.sketch)
        self.failed.include(other.failed)

    def times(self) -> Sketch:
        """The times of all calls; not to be changed."""
        if not self.failed.count:
            return self.sketch
        found = Sketch()
        found.include(self.sketch)
        found.include(self.failed)
        return found

    def p95(self) -> float:
        """Of all calls; 0 when none was timed."""
        return self.times().percentiles([SLOW])[0] or 0.0

    def may_reach(self, p95: float) -> bool:
        """Whether `p95()` may be so much; found without putting times together."""
        return may_reach(p95, SLOW, (self.sketch, self.failed), int(self[Number.TIMED]))

    @property
    def unsuccessful(self) -> int:
        """How many calls did not succeed."""
        good = sum(count for (status, _), count in self.endings.items() if status == _SUCCESS)
        return int(self.numbers[Number.CALLS]) - good

    def written(self, part: str) -> str:
        """One of the texts."""
        if part == "endings":
            ordered = sorted(self.endings.items())
            return orjson.dumps([[*ending, calls] for ending, calls in ordered]).decode()
        return (self.sketch if part == "sketch" else self.failed).written()

    def __getitem__(self, number: Number) -> float:
        return self.numbers[number]

    def _end(self, ending: tuple[str, str], calls: int) -> None:
        self.endings[ending] = self.endings.get(ending, 0) + calls
