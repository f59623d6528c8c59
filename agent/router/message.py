"""A message read once: its words, what they mean, what it wants done, and the values it names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
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
from agent.router.orders import Heard, denied_words, orders
from agent.router.pointing import points
from agent.router.said_values import Kind, Value, found_values
from agent.router.spans import DaySpan, day_spans
from agent.router.thesaurus import (
    ACTIONS,
    GUESSED,
    READING,
    Action,
    alternatives,
    meanings,
    phrase_meanings,
)
from agent.router.words import MOST_TOKENS, STOP_WORDS, Token, guessed, stem, tokens, unswapped

# Shorter words are too near to others to be put right; longer ones are put right in other ways, too.
SHORT: Final = 4
LONG: Final = 6
LONGEST_READ: Final = 5000
# Long runs of one mark or of any blanks tell nothing.
_RUNS: Final = re.compile(r"([^\w\s])\1{3,}|(\s)\s{3,}")
_GREETING: Final = re.compile(
    r"^\s*(?:(?:hi|hey|hello|good (?:morning|evening|afternoon)|dear \w+|ok|okay|so|well|um+|please)\b[\s,!.:-]*)+",
    re.IGNORECASE,
)


_MAKING_NOTHING: Final = re.compile(
    r"\W*(?:(?:no|please|ok|well|hey)\b\W*)*(?:don't|dont|do not|never) (?:create|add|make|put|note)\b"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message, read."""

    text: str
    # In small letters, and blank where quotes are.
    lowered: str
    tokens: tuple[Token, ...]
    meanings: AbstractSet[str]
    actions: tuple[Action, ...]
    # Those whose verb is often no verb, such as "complete" in "a complete list".
    doubtful: AbstractSet[Action]
    # Those that it speaks of and does not want: denied, or only asked about.
    refused: AbstractSet[Action]
    # Words of tools' names that it denies, and whether it only asks and orders no change.
    denied: AbstractSet[str]
    only_asks: bool
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
    # It is longer than what is read.
    cut: bool
    # Spans of days it names: this week, overdue, tomorrow.
    spans: tuple[DaySpan, ...]
    # What a question is after: breeds, in "which sheep breeds are there?".
    sought: AbstractSet[str]

    @property
    def action(self) -> Action | None:
        """What it wants done: the first verb says it, unless that only leads in to another."""
        return self.actions[0] if self.actions else None

    @property
    def only_denies(self) -> bool:
        """Whether it says what is not to be made, and nothing that is to be done."""
        begins = _MAKING_NOTHING.match(self.lowered)
        return bool(begins) and not self.actions and not self.asks

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


def read(text: str, known: frozenset[str], today: date) -> Message:
    """Read a message; `known` are stems that tools have in their names."""
    cut = len(text) > LONGEST_READ
    text = _RUNS.sub(r"\1\1\1\2\2\2", text[:LONGEST_READ])
    found = tuple(_corrected(token, known) for token in tokens(text))
    values = found_values(text, today)
    quoted = [(value.start, value.end) for value in values if value.kind is Kind.QUOTED]
    spoken = [one for one in found if not _inside(one, quoted)]
    lowered = _without(text, quoted).lower().replace("’", "'")
    wonders = asks(lowered[greeting_end(text) :])
    documents = DOCUMENTS.search(lowered)
    invented = INVENTING.match(lowered[greeting_end(text) :])
    # Where to look is not what to look for.
    told = [one for one in spoken if not documents or not _inside(one, [documents.span()])]
    pointed = tuple(
        one
        for one in values
        if one.kind is Kind.NUMBER and points(one.start, one.end, spoken, text)
    )
    numbered = any(value.kind is Kind.NUMBER for value in values)
    heard = Heard(spoken, lowered, greeting_end(text), wonders, numbered)
    said = orders(heard)
    return Message(
        text=text,
        lowered=lowered,
        tokens=found,
        meanings=_meanings(told, lowered, names(text)),
        actions=tuple(said.actions),
        doubtful=frozenset(action for action, sure in said.actions.items() if not sure),
        refused=said.refused,
        denied=denied_words(heard, known),
        only_asks=said.only_asks,
        values=tuple(values),
        asks=wonders,
        tells=bool(TELLING.search(lowered)),
        live=bool(LIVE.search(lowered)),
        from_documents=documents is not None,
        invents=stem(invented[1]) if invented else "",
        asks_how=bool(HOW.search(lowered)),
        dismissed=bool(DISMISSING.search(lowered)),
        pointed=pointed,
        cut=cut or len(found) >= MOST_TOKENS,
        spans=day_spans(lowered, today, named_days(lowered, today)),
        sought=sought(lowered),
    )


def greeting_end(text: str) -> int:
    """Where a message begins after its greeting."""
    match = _GREETING.match(text)
    return match.end() if match else 0


def _corrected(token: Token, known: frozenset[str]) -> Token:
    """The token, with the stem it would have without a slip of the keys."""
    if token.stem in known or token.stem in ACTIONS or token.lower in STOP_WORDS:
        return token
    if len(meanings(token.stem)) > 1 or not token.lower.isalpha():
        return token
    # Nothing is deleted on a guess.
    near = {one for one in known if ACTIONS.get(one) is not Action.DELETE}
    meant = guessed(token.lower, GUESSED) or guessed(token.lower, near)
    meant = meant or unswapped(token.lower, _short_names(known))
    return Token(token.text, token.lower, stem(meant), token.start, token.end) if meant else token


@lru_cache(maxsize=64)
def _short_names(known: frozenset[str]) -> frozenset[str]:
    """The short words for what the tools are about."""
    found = (word for part in known for word in alternatives(part))
    return frozenset(word for word in found if SHORT <= len(word) < LONG)


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


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
