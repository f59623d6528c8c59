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

_THING_FIRST: Final = re.compile(
    r"\s+(?:(?:of|for|on|from)\s+)?(?:\w+\s+)?#?\d+(?=\s+(?:with|as|to|should|must|are|need|have)\b|\s*:)",
    re.IGNORECASE,
)
# "work-tagged todos": one word.
_HYPHENED: Final = re.compile(r"\b(\w{1,60})-(\w{1,20}ed)\b", re.IGNORECASE)
_START: Final = re.compile(
    r"\s*(?:(?:it|this|that|them|both|either)\s+)?(?::|=|(?:as|with|to|is|are|(?:should|must) (?:now )?be|(?:need|have) to be)\b(?!\s+\d))?\s*",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"\s*(?:[\"'“‘](?P<quoted>[^\"'”’]{1,60})[\"'”’]|#?(?P<word>[\w-]{1,60}))"
)
_JOIN: Final = re.compile(r"\s*(?:,\s*and\b|,|\band\b|&|\+)", re.IGNORECASE)


def empties(one: Parameter, lowered: str) -> re.Match[str] | None:
    """Where all of a list is to go, of a parameter for which an empty list does that."""
    if one.type is not Type.TEXTS or "empty list" not in one.description:
        return None
    name = re.escape(one.name[:40].lower().rstrip("s"))
    return re.search(
        rf"\b(?:remov|clear|strip|tak|drop|delet|wip|get rid of|gett?ing rid of|los|eras)(?:e|p?ing)?\b(?: (?:off|away|out|of|all|every|the|its|any|those|these|of)){{0,4}} {name}s\b"
        rf"|\b{name}s\b.{{1,60}}\b(?:remove|clear|strip|drop|delete) (?:them|all|it)\b"
        rf"|\b(?:without|no) (?:any )?(?:more )?{name}s\b|\bclear\b.{{1,40}}\bof (?:all )?(?:its |the )?{name}s\b",
        lowered,
    )


def take_lists(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Take the lists that the message names."""
    for one in wanted:
        if one.type is not Type.TEXTS:
            continue
        if empty := empties(one, taken.message.lowered):
            taken.take(one.name, [])
            taken.cue(one.name, *empty.span())
            continue
        before = next(_HYPHENED.finditer(taken.message.text), None)
        if before and set(meanings(stem(before[2].lower()))) & one.meanings:
            taken.take(one.name, [before[1]])
            taken.cue(one.name, *before.span())
            continue
        others = frozenset(word for other in wanted if other is not one for word in other.words)
        for token in taken.message.tokens:
            if not set(meanings(token.stem)) & one.meanings:
                continue
            items, start, end = _listed(taken.message.text, token, others)
            if items:
                taken.take(one.name, items)
                taken.cue(one.name, token.start, token.end)
                taken.cue(one.name, start, end)
                break


def _listed(text: str, name: Token, others: AbstractSet[str]) -> tuple[list[str], int, int]:
    """The items after a name, up to where another parameter is spoken of; and where they stand."""
    between = _THING_FIRST.match(text, name.end)
    begin = between.end() if between else name.end
    start = _START.match(text, begin)
    place = start.end() if start else begin
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
    return items, begin, place
