"""Adds to the report on a cut what rules had taken away before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.context.omissions import Omission, Path


def with_left_out(
    cuts: Sequence[Omission], left_out: Sequence[tuple[Path, Omission]], outcome: Any
) -> list[Omission]:
    """`cuts` and those of `left_out` whose place is still there and not reported on by a cut.

    Each of `left_out` comes with its place in what was cut. What was taken from a part that went as a whole is missing with it and not worth a word.
    """
    reported = {(cut.path, cut.unit) for cut in cuts}
    there = (gone for now, gone in left_out if _is_there(now, outcome))
    return [*(gone for gone in there if (gone.path, gone.unit) not in reported), *cuts]


def _is_there(path: Path, value: Any) -> bool:
    for step in path:
        entries = dict(enumerate(value)) if isinstance(value, list | tuple) else value
        if not isinstance(entries, dict) or step not in entries:
            return False
        value = entries[step]
    return True
