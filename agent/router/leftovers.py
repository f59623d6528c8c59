"""What a message says that one call leaves undone: other numbers, "all of them", a second order."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from agent.router.extract import Extracted
from agent.router.message import Message
from agent.router.profile import Profile
from agent.router.said_values import Kind, Value
from agent.router.thesaurus import ACTIONS, WRITING, Action, meanings
from agent.router.words import Token, name_parts, tokens, word_set

_MORE: Final = re.compile(
    r"\b(?:all|every|everything|each|both|any|anything|everyone|everybody|twice|thrice|times"
    r"|and|then|also|plus)\b|;"
)
_JOINS: Final = word_set("and also then plus")
# Between a verb and the things that are to be made.
_COUNTS: Final = word_set(
    "a an the some few couple of these those several many more new another my our following "
    "two three four five six seven eight nine ten twelve dozen both"
)
# How far behind an "and" another thing may be named: "and then please mark todo 5".
_REACH: Final = 5
# How many words may count them: "two more of those new".
_FAR: Final = 8


def left_out(message: Message, extracted: Extracted) -> tuple[Value, ...]:
    """The values that found no place in the call, neither as an argument nor in a text of it."""
    texts = [value for value in extracted.arguments.values() if isinstance(value, str)]
    spans = [span for text in texts for span in _spans(message.text, text)]
    return tuple(
        one
        for one in message.values
        if one not in extracted.used
        and not any(start <= one.start and one.end <= end for start, end in spans)
    )


def orders_several(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether it may want more than the one call that a message gets."""
    left = left_out(message, extracted)
    ordered = [one for one in message.actions if one in WRITING and one not in message.doubtful]
    numbered = any(one.kind in (Kind.NUMBER, Kind.CODE) for one in left) and not extracted.missing
    return (
        numbered
        or len(ordered) > 1
        or bool(_MORE.search(outside_texts(message, extracted)))
        or makes_several(profile, message)
        or swallows_an_order(profile, message, extracted)
        or _names_many(profile, message, extracted)
    )


def makes_several(profile: Profile, message: Message) -> bool:
    """Whether several things are to be made: "add two todos: milk and bread"."""
    if profile.action is not Action.CREATE:
        return False
    found = message.tokens
    for place, token in enumerate(found):
        if ACTIONS.get(token.stem) is not Action.CREATE:
            continue
        near = found[place + 1 : place + 1 + _FAR]
        behind = next((one for one in near if not _counts(one)), None)
        if behind and _is_plural(behind, profile):
            return True
    return False


def swallows_an_order(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether a text has an order about another thing in it: "rename 5 to bread and todo 6 to butter".

    What a new thing says may speak of such orders: "remind me to call Ann and to close todo 6".
    """
    changes = {Action.UPDATE, Action.DELETE} & set(message.actions)
    if profile.action is Action.CREATE and not changes:
        return False
    quoted = {one.text for one in message.values if one.kind is Kind.QUOTED}
    texts = [value for value in extracted.arguments.values() if isinstance(value, str)]
    return any(_joins_another(profile, text) for text in texts if text not in quoted)


def outside_texts(message: Message, extracted: Extracted) -> str:
    """What is said around the texts that are arguments, in small letters."""
    said = message.lowered
    for value in extracted.arguments.values():
        if isinstance(value, str) and len(value) > 2:
            said = said.replace(value.lower().replace("’", "'"), " ")
    return said


def _joins_another(profile: Profile, text: str) -> bool:
    found = tokens(text)
    for place, token in enumerate(found):
        if token.lower not in _JOINS:
            continue
        behind = [one for one in found[place + 1 : place + 1 + _REACH] if one.lower != "#"]
        pairs = pairwise(behind)
        if any(_is_thing(one, profile) and number.is_number for one, number in pairs):
            return True
    return False


def _names_many(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether things are named and none of them is picked: "the last 3 todos"."""
    return bool(extracted.missing) and any(_is_plural(one, profile) for one in message.tokens)


def _is_plural(token: Token, profile: Profile) -> bool:
    """Whether a word names several of what the tool is for one of; purge_logs is for many."""
    own = name_parts(profile.name)
    return _is_thing(token, profile) and token.lower.endswith("s") and token.lower not in own


def _is_thing(token: Token, profile: Profile) -> bool:
    return bool(profile.thing) and bool(set(meanings(token.stem)) & set(meanings(profile.thing)))


def _counts(token: Token) -> bool:
    return token.is_number or token.lower in _COUNTS


def _spans(text: str, part: str) -> list[tuple[int, int]]:
    """Where a part stands in a text."""
    return [match.span() for match in re.finditer(re.escape(part), text)] if part else []
