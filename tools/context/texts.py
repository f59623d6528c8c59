"""Cuts a long text where a reader would stop: at the end of a sentence, else of a word."""

from __future__ import annotations

import re
from typing import Final

from tools.context.measure import text_length

CUT_MARK: Final = "…"
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]|\n")
_MARK_LENGTH: Final = text_length(CUT_MARK) - 2


def beginning(text: str, room: int) -> str:
    """The beginning of `text` that is at most `room` characters as JSON, a mark after it included.

    It ends with a sentence or else a word, unless that would give up more than half of it.
    """
    most = room - _MARK_LENGTH
    kept = text[: max(0, most - 2)]
    while kept and (size := text_length(kept)) > most:
        kept = kept[: min(len(kept) - 1, max(0, len(kept) * most // size))]
    if len(kept) == len(text):
        return kept
    half = len(kept) // 2
    # One character more is looked at: a full stop ends a sentence only before a space.
    ends = [found.end() for found in _SENTENCE_END.finditer(text, half, len(kept) + 1)]
    ends = [end for end in ends if half < end <= len(kept)]
    return kept[: ends[-1]] if ends else _whole_words(text, kept)


def _whole_words(text: str, kept: str) -> str:
    if text[len(kept)].isspace():
        return kept
    end = max(kept.rfind(space) for space in " \n\t")
    return kept[:end] if end > len(kept) // 2 else kept
