"""A message read once: its words, what they mean, what it wants done, and the values it names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from agent.router.asking import (
    DISMISSING,
    DOCUMENTS,
    HOW,
    INVENTING,
    LIVE,
    TELLING,
    asks,
    names,
    sought,
)
from agent.router.dates import named_days
from agent.router.orders import Heard, orders
from agent.router.thesaurus import (
    ACTIONS,
    GUESSED,
    READING,
    WRITING,
    Action,
    meanings,
    phrase_meanings,
)
from agent.router.words import STOP_WORDS, Token, guessed, stem, tokens

LONGEST_READ: Final = 5000
# Long runs of one mark or blank tell nothing.
_RUNS: Final = re.compile(r"([^\w])\1{3,}")
_QUOTED: Final = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^”\n]{1,1000})”|«([^»\n]{1,1000})»|`([^`\n]{1,1000})`"
    r"|(?<!\w)['‘]([^\n]{1,1000}?)['’](?!\w)"
)
_CODE: Final = re.compile(
    r"(?<![\w.-])(?=[A-Za-z0-9-]{0,60}\d)(?=[A-Za-z0-9-]{0,60}[A-Za-z])[A-Za-z0-9-]{4,64}(?![\w-])"
)
_NUMBER: Final = re.compile(
    r"(?<![\w.-])#?(-?\d{1,12}(?:\.\d{1,6})?)(st|nd|rd|th)?(?![\w-])(?!\.\d)"
)
_SPAN: Final = re.compile(
    r"\b(?:(\d{1,4})\s*|(?:last|past|previous|an?|one|this)\s+)(minute|min|hour|hr|day|week|month)s?\b",
    re.IGNORECASE,
)
_SPAN_UNITS: Final = {
    "minute": ("m", 1),
    "min": ("m", 1),
    "hour": ("h", 1),
    "hr": ("h", 1),
    "day": ("d", 1),
    "week": ("d", 7),
    "month": ("d", 30),
}
_GREETING: Final = re.compile(
    r"^\s*(?:(?:hi|hey|hello|good (?:morning|evening|afternoon)|dear \w+|ok|okay|so|well|um+|please)\b[\s,!.:-]*)+",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What a value looks like."""

    QUOTED = "quoted"
    CODE = "code"
    NUMBER = "number"
    DAY = "day"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class Value:
    """Something in a message that can be an argument."""

    kind: Kind
    text: str
    start: int
    end: int
    ordinal: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A message, read."""

    text: str
    tokens: tuple[Token, ...]
    meanings: AbstractSet[str]
    actions: tuple[Action, ...]
    # Those whose verb is often no verb, such as "complete" in "a complete list".
    doubtful: AbstractSet[Action]
    # Those that it speaks of and does not want: denied, or only asked about.
    refused: AbstractSet[Action]
    values: tuple[Value, ...]
    asks: bool
    tells: bool
    live: bool
    # It says that the answer is in documents: "look it up in our docs".
    from_documents: bool
    # What it wants made up: a joke, a poem.
    invents: str
    # It asks how something is done, which is no order to do it.
    asks_how: bool
    # It says that nothing is to be done.
    dismissed: bool
    # Numbers that stand right behind the verb: "close 17".
    pointed: tuple[Value, ...]
    # What a question is after: breeds, in "which sheep breeds are there?".
    sought: AbstractSet[str]

    @property
    def action(self) -> Action | None:
        """What it wants done: the first verb says it, unless that only leads in to another."""
        return self.actions[0] if self.actions else None

    @property
    def reads(self) -> bool:
        return self.action in READING

    def before(self, place: int, count: int = 3) -> Sequence[Token]:
        """The words that end before a place, the nearest first."""
        end = bisect_right(self.tokens, place, key=lambda token: token.end)
        return self.tokens[max(0, end - count) : end][::-1]

    def after(self, place: int, count: int = 3) -> Sequence[Token]:
        """The words that begin after a place, the nearest first."""
        start = bisect_left(self.tokens, place, key=lambda token: token.start)
        return self.tokens[start : start + count]


def read(text: str, known: AbstractSet[str], today: date) -> Message:
    """Read a message; `known` are stems that tools have in their names."""
    text = _RUNS.sub(r"\1\1\1", text[:LONGEST_READ])
    found = tuple(_corrected(token, known) for token in tokens(text))
    values = _values(text, today)
    quoted = [(value.start, value.end) for value in values if value.kind is Kind.QUOTED]
    spoken = [one for one in found if not _inside(one, quoted)]
    lowered = _without(text, quoted).lower().replace("’", "'")
    wonders = asks(lowered[greeting_end(text) :])
    documents = DOCUMENTS.search(lowered)
    invented = INVENTING.match(lowered[greeting_end(text) :])
    # Where to look is not what to look for.
    told = [one for one in spoken if not documents or not _inside(one, [documents.span()])]
    pointed = tuple(one for one in values if _is_pointed(one, spoken, text))
    points = any(value.kind is Kind.NUMBER for value in values)
    said = orders(Heard(spoken, lowered, greeting_end(text), wonders, points))
    return Message(
        text=text,
        tokens=found,
        meanings=_meanings(told, lowered, names(text)),
        actions=tuple(said.actions),
        doubtful=frozenset(action for action, sure in said.actions.items() if not sure),
        refused=said.refused,
        values=tuple(values),
        asks=wonders,
        tells=bool(TELLING.search(lowered)),
        live=bool(LIVE.search(lowered)),
        from_documents=documents is not None,
        invents=stem(invented[1]) if invented else "",
        asks_how=bool(HOW.search(lowered)),
        dismissed=bool(DISMISSING.search(lowered)),
        pointed=pointed,
        sought=sought(lowered),
    )


def greeting_end(text: str) -> int:
    """Where a message begins after its greeting."""
    match = _GREETING.match(text)
    return match.end() if match else 0


def _corrected(token: Token, known: AbstractSet[str]) -> Token:
    """The token, with the stem it would have without a slip of the keys."""
    if token.stem in known or token.stem in ACTIONS or token.lower in STOP_WORDS:
        return token
    if len(meanings(token.stem)) > 1 or not token.lower.isalpha():
        return token
    # Nothing is deleted on a guess.
    near = {one for one in known if ACTIONS.get(one) is not Action.DELETE}
    meant = guessed(token.lower, GUESSED) or guessed(token.lower, near)
    return Token(token.text, token.lower, stem(meant), token.start, token.end) if meant else token


def _meanings(
    spoken: list[Token], lowered: str, named: Sequence[tuple[int, int]]
) -> frozenset[str]:
    found = {
        meaning
        for token in spoken
        if token.lower not in STOP_WORDS
        for meaning in ((token.stem,) if _inside(token, named) else meanings(token.stem))
    }
    return phrase_meanings(lowered) | found


def _inside(token: Token, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= token.start < end for start, end in spans)


def _is_pointed(value: Value, spoken: Sequence[Token], text: str) -> bool:
    """Whether a number stands for a thing: right behind the verb, and counting nothing."""
    before = [one for one in spoken if one.end <= value.start][-1:]
    after = [one for one in spoken if one.start >= value.end][:1]
    between = text[value.end : after[0].start].strip() if after else ""
    counts = bool(after) and not between and after[0].lower not in STOP_WORDS
    named = bool(after) and after[0].stem in ACTIONS
    return (
        value.kind is Kind.NUMBER
        and bool(before)
        and ACTIONS.get(before[0].stem) in WRITING
        and (named or not counts)
    )


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _values(text: str, today: date) -> list[Value]:
    """The values of a text in order; none overlaps another."""
    candidates = [_quoted(match) for match in _QUOTED.finditer(text)]
    candidates += [
        Value(Kind.DAY, one.day.isoformat(), one.start, one.end) for one in named_days(text, today)
    ]
    candidates += [
        Value(Kind.CODE, m.group(), m.start(), m.end())
        for m in _CODE.finditer(text)
        if not _ordinal(m.group())
    ]
    candidates += [_span(match) for match in _SPAN.finditer(text)]
    candidates += [
        Value(Kind.NUMBER, m[1], m.start(), m.end(), bool(m[2]), m.group().startswith("#"))
        for m in _NUMBER.finditer(text)
    ]
    kept: list[Value] = []
    for one in candidates:
        if all(one.end <= other.start or one.start >= other.end for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda value: value.start)[:200]


def _quoted(match: re.Match[str]) -> Value:
    inner = next(group for group in match.groups() if group is not None)
    return Value(Kind.QUOTED, inner, match.start(), match.end())


def _ordinal(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:st|nd|rd|th|am|pm)", text.lower()))


def _span(match: re.Match[str]) -> Value:
    letter, factor = _SPAN_UNITS[match[2].lower()]
    return Value(Kind.SPAN, f"{int(match[1] or 1) * factor}{letter}", match.start(), match.end())
