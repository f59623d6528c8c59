"""Which processes there are."""

from __future__ import annotations

import contextlib
from pathlib import Path


def alive(mark: str) -> list[int]:
    """The processes that were started with `mark` among their arguments, guards among them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def children_of(pid: int) -> list[int]:
    """The children of a process, also those that ended and were not taken in."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(folder.name))
    return found
