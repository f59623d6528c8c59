"""Summaries made for one kind of answer, in forms from the smallest to the fullest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.context.tokens import count_json

SUMMARIZED: Final = "_summarized"
ORIGINAL_COUNT: Final = "_original_token_count"
SUMMARY_COUNT: Final = "_summary_token_count"


class NotOfThisKind(ValueError):
    """An answer that a summary was not made for; it is cut by its shape instead."""


@dataclass(frozen=True, slots=True)
class Forms:
    """One summary in forms 0 to `fullest`; `build` makes one, each with no less than the one before.

    `keep` and `drop` are paths in the answer, for when even the smallest form is too large.
    """

    fullest: int
    build: Callable[[int], dict[str, Any]]
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


# Takes the answer and whether detailed metadata is wanted; raises NotOfThisKind.
Summary = Callable[[Any, bool], Forms]


def stamped(summary: Mapping[str, Any], original_tokens: int) -> tuple[dict[str, Any], int]:
    """`summary` with the note that it is one and both token counts, and its own count.

    The count is of the summary as it is given out, the count in it included.
    """
    stamp = {SUMMARIZED: True, ORIGINAL_COUNT: original_tokens, SUMMARY_COUNT: 0}
    written = {**summary, **stamp}
    tokens = count_json(written)
    # A number of more digits may be one more token, which may make the number longer: once or twice.
    while tokens > written[SUMMARY_COUNT]:
        written[SUMMARY_COUNT] = tokens
        tokens = count_json(written)
    return written, written[SUMMARY_COUNT]


def first_of(source: Any, *names: str) -> Any:
    """The value of the first of `names` that is in the object `source` and not null."""
    values = (source.get(name) for name in names) if isinstance(source, Mapping) else iter(())
    return next((value for value in values if value is not None), None)


def text_of(value: Any) -> str | None:
    """An identifier or a name as a text, also where it stands in an object of its own."""
    if isinstance(value, Mapping):
        value = first_of(value, "lpn_id", "LpnId", "lpnId", "breedName", "name")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def whole_number(value: Any) -> int | None:
    """A count, also where it was written as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
