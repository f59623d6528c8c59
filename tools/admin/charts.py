"""Charts as numbers: where lines lie in a box of 1000 by 100, for templates to draw.

The box is stretched to the width of the page, so whatever has to be read stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

WIDTH: Final = 1000.0
HEIGHT: Final = 100.0
_STEPS: Final = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Dot:
    """One value: where it lies, what it says, and where it leads."""

    x: str
    y: str
    told: str
    link: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The values of one name, step by step; there is no line over steps without one."""

    name: str
    look: str
    pieces: Sequence[str]
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines between the value at the bottom and the one at the top."""

    name: str
    unit: str
    bottom: str
    top: str
    traces: Sequence[Trace]


@dataclass(frozen=True, slots=True)
class Value:
    """What was measured at a step."""

    amount: float
    told: str
    link: str


def trace(
    name: str, look: str, values: Sequence[Value | None], bounds: tuple[float, float]
) -> Trace:
    """A line of values that lie between `bounds`."""
    low, high = bounds
    step = WIDTH / max(1, len(values))
    placed = [
        None
        if value is None
        else Dot(
            f"{(place + 0.5) * step:.2f}",
            f"{HEIGHT - HEIGHT * (value.amount - low) / (high - low):.2f}",
            value.told,
            value.link,
        )
        for place, value in enumerate(values)
    ]
    pieces = [
        " ".join(f"{dot.x},{dot.y}" for dot in group if dot)
        for there, group in groupby(placed, key=lambda dot: dot is not None)
        if there
    ]
    return Trace(name, look, pieces, [dot for dot in placed if dot is not None])


def nice_top(value: float, least: float) -> float:
    """The next round number, for the top of a chart."""
    value = max(value, least)
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next(step * size for step in _STEPS if step * size >= value)
