"""Citations in answers: [n] stands for the n-th passage that the generator was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tools.pipelines.contracts import Citation, Passage

_MARK: Final = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
# A mark of a passage that there is not, with the space in front of it. Behind a letter it may be code.
_LOOSE_MARK: Final = re.compile(r"[ \t]?(?<!\w)" + _MARK.pattern)
# What is left of a mark when an answer is cut.
_HALF_MARK: Final = re.compile(r"\s*\[[\d,;\s]*\Z")


def cited(text: str, passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """The answer without marks of passages that do not exist, and what the others stand for."""
    known = range(1, len(passages) + 1)

    def mend(found: re.Match[str]) -> str:
        return found[0] if any(number in known for number in _numbers(found[1])) else ""

    answer = _LOOSE_MARK.sub(mend, text).strip()
    numbers = sorted({number for mark in _MARK.findall(answer) for number in _numbers(mark)})
    return answer, tuple(
        cite(number, passages[number - 1]) for number in numbers if number in known
    )


def cite(number: int, passage: Passage) -> Citation:
    """The citation of the n-th passage."""
    source = str(passage.metadata.get("source") or passage.document)
    return Citation(number, passage.passage_id, source)


def _numbers(mark: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", mark)]


def without_half_mark(text: str) -> str:
    """An answer that was cut, without the beginning of a mark at its end."""
    return _HALF_MARK.sub("", text)
