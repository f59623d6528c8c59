"""What the trial wrote about its runs."""

from __future__ import annotations

from pathlib import Path


def lines(trace: Path) -> list[str]:
    return trace.read_text().splitlines() if trace.exists() else []


def pids(trace: Path) -> list[int]:
    """The processes that began a query, in that order."""
    return [int(line.split()[1]) for line in lines(trace) if line.startswith("started")]


def ended(trace: Path) -> int:
    """How many queries came to an end of any kind."""
    return sum(line.startswith("ended") for line in lines(trace))


def most_at_once(trace: Path) -> int:
    """How many queries ran at the same time, at most."""
    running = most = 0
    for line in lines(trace):
        running += 1 if line.startswith("started") else -1
        most = max(most, running)
    return most
