"""Lists of words after the name of their parameter: `tagged home and garden`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.parameters import Parameter, Type
from agent.router.thesaurus import meanings
from agent.router.words import STOP_WORDS, Token, stem

_THING_FIRST: Final = re.compile(r"\s+(?:\w+\s+)?#?\d+\s+(?:with|as)\b", re.IGNORECASE)
_START: Final = re.compile(r"\s*(?::|=|(?:as|with|to|is|are)\b(?!\s+\d))?\s*", re.IGNORECASE)
_ITEM: Final = re.compile(
    r"\s*(?:[\"'“‘](?P<quoted>[^\"'”’]{1,60})[\"'”’]|#?(?P<word>[\w-]{1,60}))"
)
_JOIN: Final = re.compile(r"\s*(?:,\s*and\b|,|\band\b|&|\+)", re.IGNORECASE)


def take_lists(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Take the lists that the message names."""
    for one in wanted:
        if one.type is not Type.TEXTS:
            continue
        others = frozenset(word for other in wanted if other is not one for word in other.words)
        for token in taken.message.tokens:
            if not set(meanings(token.stem)) & one.meanings:
                continue
            items, end = _listed(taken.message.text, token, others)
            if items:
                taken.take(one.name, items)
                taken.cue(token.start, end)
                break


def _listed(text: str, name: Token, others: AbstractSet[str]) -> tuple[list[str], int]:
    """The items after a name, up to where another parameter is spoken of; and where they end."""
    between = _THING_FIRST.match(text, name.end)
    start = _START.match(text, between.end() if between else name.end)
    place = start.end() if start else name.end
    items: list[str] = []
    ending = False
    while (item := _ITEM.match(text, place)) is not None:
        word = item["quoted"] or item["word"]
        if word.lower() in STOP_WORDS or (items and stem(word.lower()) in others):
            break
        items.append(word)
        place = item.end()
        join = _JOIN.match(text, place)
        # The last of a list comes after "and"; behind a further comma something else begins.
        if join is None or (ending and join.group().strip() == ","):
            break
        ending = "and" in join.group().lower()
        place = join.end()
    return items, place
