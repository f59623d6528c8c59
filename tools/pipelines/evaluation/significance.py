"""Whether two runs over the same queries differ by more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

FLIPS: Final = 10_000
# Up to this many differing queries every assignment of signs is looked at.
EXACT_UP_TO: Final = 12
SEED: Final = 20_261_116


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second run against the first, over the queries both have.

    `p_value` is the share of ways to swap the two runs' values, query by query, that give a mean
    difference at least as large as the one seen.
    """

    queries: int
    difference: float
    better: int
    worse: int
    p_value: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(before: Mapping[str, float], after: Mapping[str, float]) -> Comparison | None:
    """A paired randomisation test, two-sided; None when the runs have no query in common."""
    shared = [query for query in before if query in after]
    if not shared:
        return None
    gains = np.array([after[query] - before[query] for query in shared], np.float64)
    return Comparison(
        queries=len(shared),
        difference=float(gains.mean()),
        better=int((gains > 0).sum()),
        worse=int((gains < 0).sum()),
        p_value=_p_value(gains[gains != 0]),
    )


def _p_value(gains: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    if not len(gains):
        return 1.0
    seen = abs(gains.sum()) * (1 - 1e-12)
    if len(gains) <= EXACT_UP_TO:
        flips = np.arange(2 ** len(gains))[:, None] >> np.arange(len(gains)) & 1
        return float((abs((1 - 2 * flips) @ gains) >= seen).mean())
    chance = np.random.default_rng(SEED)
    reached = 0
    # In slices: all flips of a large collection at once would be gigabytes.
    for _ in range(FLIPS // 500):
        signs = chance.integers(0, 2, (500, len(gains)), np.int8) * 2 - 1
        reached += int((abs(signs @ gains) >= seen).sum())
    return (reached + 1) / (FLIPS + 1)
