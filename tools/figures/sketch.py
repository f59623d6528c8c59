"""A sketch of many values: small, mergeable, and every percentile within one percent.

Values are counted in buckets, each 2 % wider than the one before. The middle of a bucket is at most
1 % away from anything in it, so a percentile read from the sketch is within 1 % of the value that the
same rank has among the values themselves. Two sketches add up to that of both their values.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

import orjson

GAMMA: Final = 1.02
SCALE: Final = 1 / math.log(GAMMA)
# What bucket `i` stands for is this times GAMMA**i: the point whose relative distance from both
# ends of the bucket is the same.
MIDDLE: Final = 2 / (GAMMA + 1)


class Sketch:
    """Counts of values that are not negative."""

    __slots__ = ("buckets", "high", "low", "zeros")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.buckets: dict[int, int] = {}
        self.zeros = 0
        self.low = math.inf
        self.high = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Count one value.

        Raises:
            ValueError: it is negative or no number.
        """
        if value > 0:
            index = math.ceil(math.log(value) * SCALE)
            self.buckets[index] = self.buckets.get(index, 0) + 1
        elif value == 0:
            self.zeros += 1
        else:
            raise ValueError(f"{value} cannot be counted")
        self.low = min(self.low, value)
        self.high = max(self.high, value)

    def merge(self, joined: str) -> None:
        """Count what other sketches counted, given as they were written, with commas between them."""
        told = orjson.loads(f"[{joined}]")
        # The longest first: into an empty sketch it goes as a whole.
        told.sort(key=_length, reverse=True)
        for zeros, low, high, indexes, counts in told:
            self._count(indexes, counts)
            self.zeros += zeros
            self.low = min(self.low, low)
            self.high = max(self.high, high)

    def _count(self, indexes: Sequence[int], counts: Sequence[int]) -> None:
        if not self.buckets:
            self.buckets = dict(zip(indexes, counts, strict=True))
            return
        buckets = self.buckets
        counted = buckets.get
        for index, count in zip(indexes, counts, strict=True):
            buckets[index] = counted(index, 0) + count

    def include(self, other: Sketch) -> None:
        """Count what another counted."""
        buckets = self.buckets
        if buckets:
            for index, count in other.buckets.items():
                buckets[index] = buckets.get(index, 0) + count
        else:
            self.buckets = other.buckets.copy()
        self.zeros += other.zeros
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)

    def written(self) -> str:
        """As text, the same for the same counts; empty without any."""
        if not self.count:
            return ""
        ordered = sorted(self.buckets.items())
        indexes, counts = [index for index, _ in ordered], [count for _, count in ordered]
        return orjson.dumps([self.zeros, self.low, self.high, indexes, counts]).decode()

    @property
    def count(self) -> int:
        return self.zeros + sum(self.buckets.values())

    def percentiles(self, shares: Sequence[float]) -> list[float | None]:
        """For each share the smallest value that at least so many kept to (nearest rank), within 1 %.

        None for each without values. What lies beyond the smallest or the largest value is never said.
        """
        total = self.count
        if not total:
            return [None] * len(shares)
        # Which bucket a rank is in: by adding up, and then by looking it up, without a step in Python.
        indexes = sorted(self.buckets)
        seen = list(accumulate(map(self.buckets.__getitem__, indexes), initial=self.zeros))
        found: list[float | None] = []
        for share in shares:
            rank = _rank(share, total)
            found.append(
                0.0 if rank <= self.zeros else self._middle(indexes[bisect_left(seen, rank) - 1])
            )
        return found

    def within(self, value: float) -> int:
        """How many values are at most `value`; those in the bucket that it falls into all count."""
        if value < 0:
            return 0
        if value >= self.high:
            return self.count
        last = math.ceil(math.log(value) * SCALE) if value > 0 else -math.inf
        return self.zeros + sum(count for index, count in self.buckets.items() if index <= last)

    def _middle(self, index: int) -> float:
        # By logarithm: the power itself may be beyond what a number holds.
        return max(self.low, min(self.high, MIDDLE * _power(index)))


def _length(written: Sequence[Any]) -> int:
    return len(written[3])


def _power(index: int) -> float:
    try:
        return math.exp(index / SCALE)
    except OverflowError:
        return math.inf


def _rank(share: float, total: int) -> int:
    return max(1, math.ceil(share * total))
