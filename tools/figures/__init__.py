"""Figures of calls: counted and measured so that any two can be added up. No framework in here."""

from tools.figures.sketch import Sketch
from tools.figures.statistics import CallStatistics, statistics
from tools.figures.summed import Summed
from tools.figures.tally import BOUNDS, NUMBERS, Key, Number, Tally, tallied

__all__ = [
    "BOUNDS",
    "NUMBERS",
    "CallStatistics",
    "Key",
    "Number",
    "Sketch",
    "Summed",
    "Tally",
    "statistics",
    "tallied",
]
