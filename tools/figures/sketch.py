"""A sketch of many values: small, mergeable, and every percentile within one percent.

Values are counted in buckets, each 2 % wider than the one before. The middle of a bucket is at most
1 % away from anything in it, so a percentile read from the sketch is within 1 % of the value that the
same rank has among the values themselves. Two sketches add up to that of both their values.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import Final

import orjson

GAMMA: Final = 1.02
SCALE: Final = 1 / math.log(GAMMA)
# What bucket `i` stands for is GAMMA**i times 2 / (GAMMA + 1): the point whose relative distance from both
# ends of the bucket is the same. As a logarithm, for GAMMA**i may be beyond what a number holds.
MIDDLE: Final = math.log(2 / (GAMMA + 1))


class Sketch:
    """Counts of values that are not negative."""

    __slots__ = ("_apart", "_buckets", "high", "low", "zeros")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._buckets: dict[int, int] = {}
        # Indexes and counts of other sketches, put into one when somebody asks for a percentile:
        # of most that are read nobody does.
        self._apart: list[tuple[list[int], list[int]]] = []
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
            self._buckets[index] = self._buckets.get(index, 0) + 1
        elif value == 0:
            self.zeros += 1
        else:
            raise ValueError(f"{value} cannot be counted")
        self.low = min(self.low, value)
        self.high = max(self.high, value)

    def merge(self, joined: str) -> None:
        """Count what other sketches counted, given as they were written, with commas between them."""
        for zeros, low, high, indexes, counts in orjson.loads(f"[{joined}]"):
            self._apart.append((indexes, counts))
            self.zeros += zeros
            self.low = min(self.low, low)
            self.high = max(self.high, high)

    @property
    def buckets(self) -> dict[int, int]:
        """How many values each has, by its index; none is empty.

        The first reading puts what was merged into one, so threads must not share a sketch.
        """
        if self._apart:
            # The longest first: into an empty sketch it goes as a whole.
            for indexes, counts in sorted(self._apart, key=_length, reverse=True):
                self._count(indexes, counts)
            self._apart.clear()
        return self._buckets

    def _count(self, indexes: Collection[int], counts: Collection[int]) -> None:
        buckets = self._buckets
        if not buckets:
            buckets.update(zip(indexes, counts, strict=True))
            return
        counted = buckets.get
        for index, count in zip(indexes, counts, strict=True):
            buckets[index] = counted(index, 0) + count

    def include(self, other: Sketch) -> None:
        """Count what another counted."""
        self._apart.extend(other._apart)
        self._count(other._buckets.keys(), other._buckets.values())
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
        apart = sum(sum(counts) for _, counts in self._apart)
        return self.zeros + sum(self._buckets.values()) + apart

    def percentiles(self, shares: Sequence[float]) -> list[float | None]:
        """For each share the smallest value that at least so many kept to (nearest rank), within 1 %.

        None for each without values. What lies beyond the smallest or the largest value is never said.
        """
        total = self.count
        if not total:
            return [None] * len(shares)
        # Which bucket a rank is in: by adding up, and then by looking it up, without a step in Python.
        buckets = self.buckets
        indexes = sorted(buckets)
        seen = list(accumulate(map(buckets.__getitem__, indexes), initial=self.zeros))
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
        apart = sum(sum(counts[: bisect_right(indexes, last)]) for indexes, counts in self._apart)
        here = sum(count for index, count in self._buckets.items() if index <= last)
        return self.zeros + here + apart

    def _middle(self, index: int) -> float:
        return max(self.low, min(self.high, _power(index / SCALE + MIDDLE)))


def may_reach(value: float, share: float, sketches: Iterable[Sketch], count: int) -> bool:
    """Whether the percentile of all their `count` values may be `value` or more; no means that it is less.

    Costs a fraction of the percentile itself: nothing is put into one sketch.
    """
    # Two buckets less: one for where the value lies in its bucket, one for how it was rounded.
    less = value / GAMMA**2
    return not value or sum(sketch.within(less) for sketch in sketches) < _rank(share, count)


def _length(part: tuple[list[int], list[int]]) -> int:
    return len(part[0])


def _power(exponent: float) -> float:
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf


def _rank(share: float, total: int) -> int:
    return max(1, math.ceil(share * total))
