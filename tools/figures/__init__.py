"""Figures of calls: counted and measured so that any two can be added up. No framework in here."""

from tools.figures.sketch import Sketch
from tools.figures.statistics import CallStatistics, Gathered
from tools.figures.tally import BOUNDS, NUMBERS, Key, Number, Tally, tallied

__all__ = [
    "BOUNDS",
    "NUMBERS",
    "CallStatistics",
    "Gathered",
    "Key",
    "Number",
    "Sketch",
    "Tally",
    "tallied",
]
