"""A definition that waits beside the approved one, as pages show it: every difference marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tools.models import UpstreamItem
from tools.services.approve_upstream import differences_of
from tools.upstreams.differences import Difference
from tools.upstreams.matching import Budget

# How hidden characters are written out.
_HIDDEN: Final = re.compile("(\u2423U\\+[0-9A-F]{4,6})")
KINDS: Final = {
    "hidden": "Hidden characters",
    "instruction": "Reads like an instruction to a model",
    "lookalike": "Looks like another",
    "name": "Name",
    "description": "Description",
    "schema": "Definition",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text: `marked` is on this side alone, `hidden` stands for what nobody would see."""

    text: str
    marked: bool
    hidden: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """One place where the definitions differ; None stands for nothing there.

    `compared` is false when the words of both were too much to compare, so that all are marked.
    """

    where: str
    old: list[Piece] | None
    new: list[Piece] | None
    compared: bool = True


def shown_differences(item: UpstreamItem, budget: Budget | None = None) -> list[Shown]:
    """What the server says otherwise than was approved, or all it says when nothing was."""
    return [] if item.offered is None else shown(differences_of(item), budget)


def shown(differences: Iterable[Difference], budget: Budget | None = None) -> list[Shown]:
    """Differences in pieces that can be marked. A page that shows several gives all one budget."""
    allowed = budget or Budget()
    found = []
    for one in differences:
        old, new, compared = one.parts(allowed)
        # What is new as a whole needs no mark at every word.
        whole = one.old is None or one.new is None
        found.append(
            Shown(
                one.where,
                None if one.old is None else list(pieces(old, marks=not whole)),
                None if one.new is None else list(pieces(new, marks=not whole)),
                compared or whole,
            )
        )
    return found


def shown_findings(item: UpstreamItem) -> list[dict[str, Any]]:
    """What was found in the definition, with words for its kind."""
    return [
        {**one, "title": KINDS.get(one.get("kind", ""), str(one.get("kind", "")))}
        for one in item.findings
    ]


def pieces(parts: list[tuple[bool, str]], *, marks: bool) -> Iterator[Piece]:
    """Runs of text to show, those that stand for hidden characters apart."""
    for marked, text in parts:
        for place, piece in enumerate(_HIDDEN.split(text)):
            if piece:
                yield Piece(piece, marked and marks, place % 2 == 1)
