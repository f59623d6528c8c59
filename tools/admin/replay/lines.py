"""Two answers line by line: what is alike is folded, what differs is marked to the word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tools.admin.upstream_diff import Piece, pieces
from tools.upstreams.characters import visible
from tools.upstreams.differences import Difference
from tools.upstreams.matching import Budget, Run, runs

CONTEXT: Final = 3
# What is beyond is left out, and the page says so.
MOST_LINES: Final = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """A line on both sides, or on one; or `alike`, how many lines are left out here."""

    kind: str
    old: list[Piece] | None = None
    new: list[Piece] | None = None
    alike: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """Both texts. `same` when they are equal, `cut` when only their beginnings were compared."""

    rows: list[Row]
    same: bool
    cut: bool


def compare(old: str, new: str) -> Compared:
    """`old` and `new` side by side."""
    before, after = old.splitlines(), new.splitlines()
    cut = len(before) > MOST_LINES or len(after) > MOST_LINES
    before, after = before[:MOST_LINES], after[:MOST_LINES]
    rows: list[Row] = []
    budget = Budget()
    # Too much to find out what was moved: then each line stands beside the one of its number.
    beside: list[Run] = [("replace", 0, len(before), 0, len(after))]
    found = runs(before, after, budget, skip_frequent=True) or beside
    for kind, start, end, first, last in found:
        if kind == "equal":
            rows += _alike(before[start:end], first=not rows, last=end == len(before))
        else:
            rows += _changed(before[start:end], after[first:last], budget)
    return Compared(rows, old == new, cut)


def _alike(lines: list[str], *, first: bool, last: bool) -> Iterator[Row]:
    """The lines around a difference; those farther away are counted."""
    head, tail = (0 if first else CONTEXT), (0 if last else CONTEXT)
    left = len(lines) - head - tail
    if left <= 1:
        yield from map(_same, lines)
        return
    yield from map(_same, lines[:head])
    yield Row("gap", alike=left)
    yield from map(_same, lines[len(lines) - tail :])


def _same(line: str) -> Row:
    shown = _whole(line)
    return Row("same", shown, shown)


def _changed(old: list[str], new: list[str], budget: Budget) -> Iterator[Row]:
    paired = min(len(old), len(new))
    for one, other in zip(old[:paired], new[:paired], strict=True):
        if one == other:
            yield _same(one)
            continue
        left, right, _ = Difference("", visible(one), visible(other)).parts(budget)
        yield Row("changed", list(pieces(left, marks=True)), list(pieces(right, marks=True)))
    yield from (Row("removed", old=_whole(line)) for line in old[paired:])
    yield from (Row("added", new=_whole(line)) for line in new[paired:])


def _whole(line: str) -> list[Piece]:
    return list(pieces([(False, visible(line))], marks=False))
