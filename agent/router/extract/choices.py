"""Values from fixed sets: choices, switches, known words, spans of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.message import Kind
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.thesaurus import alternatives, meanings
from agent.router.words import Token, name_parts, stem, word_set

# Everyday words: as a choice they count only beside the name of the parameter.
_EVERYDAY: Final = frozenset(
    {"both", "all", "any", "none", "text", "auto", "other", "new", "vector", "web"}
)
_SWITCH_WORDS: Final = frozenset(
    stem(word)
    for word in word_set("include enable allow use only is has with show return want also")
)
_REFUSING: Final = re.compile(
    r"\b(?:without|no|not|don't|dont|leave out|leaving out|omit|skip|exclude|drop|minus)\b(?:\s+\w+){0,3}\s*$",
    re.IGNORECASE,
)
_SORTING: Final = re.compile(
    r"\b(?:highest|largest|biggest|best|newest|latest) first\b", re.IGNORECASE
)


def take_choices(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Take what the message says of parameters with fixed values."""
    for one in wanted:
        if one.type is Type.CHOICE:
            _take_choice(taken, one, one.choices)
        elif one.type is Type.CHOICES:
            _take_all(taken, one)
        elif one.type is Type.BOOLEAN:
            _take_switch(taken, one)
        elif one.type is Type.TEXT and not one.is_id:
            known = profile.vocabulary.get(one.name, ())
            if len(known) > 1:
                # Codes are said as they are written.
                _take_choice(taken, one, known, ways=(True,))


def _take_choice(
    taken: Taken, one: Parameter, choices: Sequence[str], ways: Sequence[bool] = (True, False)
) -> None:
    for value in taken.free(Kind.SPAN):
        if value.text in choices:
            taken.take(one.name, value.text, value)
            return
    for exact in ways:
        for token in _spoken(taken):
            choice = _chosen(token, choices, exact)
            if choice is None or (choice.lower() in _EVERYDAY and not _beside(taken, token, one)):
                continue
            taken.take(one.name, choice)
            _cue_choice(taken, token, one)
            return


def _spoken(taken: Taken) -> list[Token]:
    quoted = [one for one in taken.message.values if one.kind is Kind.QUOTED]
    return [
        token
        for token in taken.message.tokens
        if not any(one.start <= token.start < one.end for one in quoted)
    ]


def _chosen(token: Token, choices: Sequence[str], exact: bool) -> str | None:
    if exact:
        return next((choice for choice in choices if choice.lower() == token.lower), None)
    said = set(meanings(token.stem))
    for choice in choices:
        parts = name_parts(choice)
        if len(parts) == 1 and said & _own_meanings(stem(parts[0])):
            return choice
    return None


def _own_meanings(word_stem: str) -> frozenset[str]:
    """What a choice is said as; where it heads a group itself, what else it may mean is left out."""
    return frozenset({word_stem} if alternatives(word_stem) else meanings(word_stem))


def _beside(taken: Taken, token: Token, one: Parameter) -> bool:
    """Whether the parameter's name stands near."""
    near = [*taken.message.before(token.start, 3), *taken.message.after(token.end, 2)]
    return any(word.stem in one.words for word in near)


def _cue_choice(taken: Taken, token: Token, one: Parameter) -> None:
    """Mark the choice with the words around it that speak of its parameter."""
    start, end = token.start, token.end
    for word in taken.message.before(token.start, 2):
        if word.stem not in one.words:
            break
        start = word.start
    for word in taken.message.after(token.end, 1):
        end = word.end if word.stem in one.words else end
    taken.cue(start, end)


def _take_all(taken: Taken, one: Parameter) -> None:
    lowered = taken.message.text.lower()
    found = [
        choice
        for choice in one.choices
        if re.search(rf"(?<!\w){re.escape(choice.lower())}(?!\w)", lowered)
    ]
    if found:
        taken.take(one.name, found)


def _take_switch(taken: Taken, one: Parameter) -> None:
    """A switch is on when its words are said, off when they are refused."""
    telling = [word for word in one.words if word not in _SWITCH_WORDS]
    tokens = _spoken(taken)
    places = [next((t for t in tokens if t.stem == word), None) for word in telling]
    said = [place for place in places if place is not None]
    if telling and len(said) == len(places) and _together(said):
        first = min(place.start for place in said)
        refused = bool(_REFUSING.search(taken.message.text[max(0, first - 40) : first]))
        taken.take(one.name, not refused)
        taken.cue(first, max(place.end for place in said))
    elif "revers" in one.words and (match := _SORTING.search(taken.message.text)):
        taken.take(one.name, True)
        taken.cue(match.start(), match.end())


def _together(said: Sequence[Token]) -> bool:
    return max(one.end for one in said) - min(one.start for one in said) <= 30
