"""Calls that ended in several ways, added up: how many ended how, their numbers, and their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import orjson

from tools.errors import CallStatus
from tools.figures.sketch import Sketch
from tools.figures.tally import NUMBERS, Number

_SUCCESS = CallStatus.SUCCESS.value


class Summed:
    """Sums over calls. Times of calls that succeeded are apart from those of the others."""

    __slots__ = ("endings", "failed", "numbers", "sketch")

    def __init__(self) -> None:
        # By status and code.
        self.endings: Counter[tuple[str, str]] = Counter()
        self.numbers: list[float] = [0] * len(NUMBERS)
        self.sketch = Sketch()
        self.failed = Sketch()

    def add(self, status: str, code: str, numbers: Sequence[float], sketches: str) -> None:
        """Add calls that ended alike: the sums of their numbers, and their sketches as written."""
        self.endings[status, code] += int(numbers[Number.CALLS])
        self._count(numbers)
        (self.sketch if status == _SUCCESS else self.failed).merge(sketches)

    def merge(self, endings: str, numbers: Sequence[float], sketches: str, failed: str) -> None:
        """Add other sums: of their numbers the sums, the rest as written, with commas between."""
        for many in orjson.loads(f"[{endings}]"):
            for status, code, calls in many:
                self.endings[status, code] += calls
        self._count(numbers)
        self.sketch.merge(sketches)
        self.failed.merge(failed)

    def include(self, other: Summed) -> None:
        """Add another's."""
        self.endings.update(other.endings)
        self._count(other.numbers)
        self.sketch.include(other.sketch)
        self.failed.include(other.failed)

    def times(self) -> Sketch:
        """The times of all calls; not to be changed."""
        if not self.failed.count:
            return self.sketch
        # Into a copy of the longer one.
        longer, shorter = self.sketch, self.failed
        if len(longer.buckets) < len(shorter.buckets):
            longer, shorter = shorter, longer
        found = Sketch()
        found.include(longer)
        found.include(shorter)
        return found

    def written(self, part: str) -> str:
        """One of the texts."""
        if part == "endings":
            ordered = sorted(self.endings.items())
            return orjson.dumps([[*ending, calls] for ending, calls in ordered]).decode()
        return (self.sketch if part == "sketch" else self.failed).written()

    def __getitem__(self, number: Number) -> float:
        return self.numbers[number]

    def _count(self, numbers: Sequence[float]) -> None:
        self.numbers = [mine + other for mine, other in zip(self.numbers, numbers, strict=True)]
