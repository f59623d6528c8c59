"""What is counted of calls that ended alike: numbers, a sketch of their times, and a histogram.

This runs for every call beside the calls themselves, so a call costs a few additions and no objects.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

import orjson

from tools.errors import ErrorCode
from tools.figures.sketch import SCALE, Sketch

# Upper ends of the histogram's buckets in seconds, as Prometheus is told them; the last has none.
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_BOUNDS_MS: Final = tuple(bound * 1000 for bound in BOUNDS)
_EMPTY: Final = [0] * (len(BOUNDS) + 1)

# Minute as text, tool, source, dependency, caller, status, code.
Key = tuple[str, str, str, str, str, str, str]
MINUTE: Final = len("2026-11-17T14:42")


class Number(IntEnum):
    """Places in the numbers of a tally.

    Tokens are those of answers under a budget, `shortened` the answers cut to it, and `saved_percent`
    the sum of what each was cut by. `validated` counts calls whose arguments were found good,
    `invalid_refused` those stopped for theirs, and `invalid_passed` those that only the backend found
    invalid. `refused_rate` and `refused_slot` count calls over the caller's rate, and calls that no
    slot of the tool came free for.
    """

    CALLS = 0
    TIMED = 1
    TIME_MS = 2
    CACHE_HITS = 3
    CACHE_MISSES = 4
    TOKENS_BEFORE = 5
    TOKENS_AFTER = 6
    SHORTENED = 7
    SAVED_PERCENT = 8
    VALIDATED = 9
    INVALID_REFUSED = 10
    INVALID_PASSED = 11
    REFUSED_RATE = 12
    REFUSED_SLOT = 13


# The same as names of columns.
NUMBERS: Final = tuple(number.name.lower() for number in Number)

# Members of an enumeration cost an attribute each time; these are plain numbers.
_CALLS, _TIMED, _TIME, _HITS, _MISSES, _BEFORE, _AFTER, _SHORT, _SAVED = map(int, list(Number)[:9])
_VALIDATED, _REFUSED, _PASSED, _RATE, _SLOT = map(int, list(Number)[9:])
_INVALID: Final = ErrorCode.INVALID_ARGUMENTS.value
_LIMITED: Final = ErrorCode.RATE_LIMITED.value


class Tally:
    """Sums over calls."""

    __slots__ = ("histogram", "numbers", "sketch")

    def __init__(self) -> None:
        self.numbers: list[float] = [0] * len(NUMBERS)
        self.sketch = Sketch()
        self.histogram = _EMPTY.copy()

    def add(self, event: Mapping[str, Any]) -> None:
        """Count a call by its closing event."""
        numbers, stages = self.numbers, event["stages"]
        numbers[_CALLS] += 1
        duration = event["duration_ms"]
        if duration is not None:
            numbers[_TIMED] += 1
            numbers[_TIME] += duration
            self.histogram[bisect_left(_BOUNDS_MS, duration)] += 1
            self._sketch(duration)
        hit = event["cache_hit"]
        if hit is not None:
            numbers[_HITS if hit else _MISSES] += 1
        if event["tokens_before"] is not None and event["tokens_after"] is not None:
            self._tokens(event["tokens_before"], event["tokens_after"])
        # The path notes this stage once the arguments were found good.
        validated = '"validation"' in stages
        if validated:
            numbers[_VALIDATED] += 1
        code = event["code"]
        if code:
            self._refusal(code, stages, validated, bool(event["source"]))

    def _sketch(self, duration: float) -> None:
        sketch = self.sketch
        if sketch.low <= duration <= sketch.high and duration:
            # What `Sketch.add` does with most values, without the way there.
            index = math.ceil(math.log(duration) * SCALE)
            buckets = sketch.buckets
            buckets[index] = buckets.get(index, 0) + 1
        else:
            sketch.add(duration)

    def _tokens(self, before: int, after: int) -> None:
        numbers = self.numbers
        numbers[_BEFORE] += before
        numbers[_AFTER] += after
        if after < before:
            numbers[_SHORT] += 1
            numbers[_SAVED] += (before - after) * 100.0 / before

    def _refusal(self, code: str, stages: str, validated: bool, found: bool) -> None:
        if code == _INVALID:
            if validated:
                self.numbers[_PASSED] += 1
            elif found:
                self.numbers[_REFUSED] += 1
        elif code == _LIMITED:
            # The rate stage is noted once it was passed; later refusals are for want of a slot.
            self.numbers[_SLOT if '"rate"' in stages else _RATE] += 1

    def merge(self, numbers: Sequence[float], histograms: str = "", sketches: str = "") -> None:
        """Add other tallies: the sums of their numbers, the rest as written, with commas between."""
        self.numbers = [mine + other for mine, other in zip(self.numbers, numbers, strict=True)]
        for others in orjson.loads(f"[{histograms}]"):
            self.histogram = [
                mine + other for mine, other in zip(self.histogram, others, strict=True)
            ]
        self.sketch.merge(sketches)

    def include(self, other: Tally) -> None:
        """Add another tally."""
        self.merge(other.numbers, other.written("histogram"))
        self.sketch.include(other.sketch)

    def written(self, part: str) -> str:
        """The histogram or the sketch as text."""
        return self.sketch.written() if part == "sketch" else orjson.dumps(self.histogram).decode()

    def __getitem__(self, number: Number) -> float:
        return self.numbers[number]


def tallied(events: Iterable[Mapping[str, Any]]) -> dict[Key, Tally]:
    """Closing events, added up by minute and by what tells calls apart.

    Names that are no tool are not kept. Times of events are in UTC.
    """
    found: dict[Key, Tally] = {}
    for event in events:
        source = event["source"]
        key = (
            event["received_at"][:MINUTE],
            event["tool"] if source else "",
            source,
            event.get("dependency") or "",
            event["caller"],
            event["status"],
            event["code"],
        )
        tally = found.get(key)
        if tally is None:
            tally = found[key] = Tally()
        tally.add(event)
    return found
