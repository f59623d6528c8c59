"""Tables for a terminal: coloured there, plain everywhere else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

GREEN = "\x1b[32m"
RED = "\x1b[31m"
RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and whether it is good news (True), bad news (False), neither (None)."""

    text: str
    good: bool | None = None


def wants_colour(stream: IO[Any], *, forced_off: bool = False) -> bool:
    """Colour only on a terminal, and never against NO_COLOR or --no-color."""
    if forced_off or os.environ.get("NO_COLOR"):
        return False
    return stream.isatty()


def render(header: Sequence[str], rows: Sequence[Sequence[Cell]], *, colour: bool) -> str:
    """Left-aligned columns, two blanks apart."""
    lines = [[Cell(title) for title in header], *rows]
    widths = [max(len(line[column].text) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            _paint(cell, cell.text.ljust(width), colour)
            for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _paint(cell: Cell, text: str, colour: bool) -> str:
    if not colour or cell.good is None:
        return text
    return f"{GREEN if cell.good else RED}{text}{RESET}"


def duration(seconds: int) -> str:
    """Seconds as people say them: 42s, 3m 5s, 2h 10m, 4d 1h."""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days}d {hour}h"
    if hours:
        return f"{hour}h {minute}m"
    return f"{minute}m {second}s" if minute else f"{second}s"
