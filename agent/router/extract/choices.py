"""Values from fixed sets: choices, switches, known words, spans of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.message import Message
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.said_values import Kind
from agent.router.thesaurus import READING, Action, alternatives, meanings, phrase_meanings
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
    r"\b(?:without|no|not|don't|dont|w/o|leave out|leaving out|omit|skip|exclude|drop|minus)\b(?:\s+\w+){0,3}\s*$",
    re.IGNORECASE,
)
_ADDS: Final = re.compile(r"\beach (\w+)|\bby (\w+ \w+)")
_DENYING: Final = word_set("not never cannot isnt")
_MINUTES: Final = {"m": 1, "h": 60, "d": 24 * 60}
_SORTING: Final = re.compile(
    r"\b(?:highest|largest|biggest|best|newest|latest) first\b", re.IGNORECASE
)


def take_choices(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Take what the message says of parameters with fixed values."""
    for one in wanted:
        if one.type is Type.CHOICE:
            _take_choice(taken, profile, one, one.choices)
        elif one.type is Type.CHOICES:
            _take_all(taken, one)
        elif one.type is Type.BOOLEAN:
            _take_switch(taken, one)
        elif one.type is Type.TEXT and not one.is_id:
            known = profile.vocabulary.get(one.name, ())
            if len(known) > 1:
                # Codes are said as they are written.
                _take_choice(taken, profile, one, known, ways=(True,))


def _take_choice(
    taken: Taken,
    profile: Profile,
    one: Parameter,
    choices: Sequence[str],
    ways: Sequence[bool] = (True, False),
) -> None:
    for value in taken.free(Kind.SPAN):
        same = next((each for each in choices if _minutes(each) == _minutes(value.text)), "")
        if same:
            taken.take(one.name, same, value)
            return
    for exact in ways:
        for token in _spoken(taken):
            choice = _chosen(token, choices, exact)
            if choice is None or _is_not_so(taken, token, profile):
                continue
            if choice.lower() in _EVERYDAY and not _beside(taken, token, one):
                continue
            taken.take(one.name, choice)
            _cue_choice(taken, token, one)
            return
    spoken_of = phrase_meanings(taken.message.lowered)
    phrased = [choice for choice in choices if stem(choice.lower()) in spoken_of]
    if False in ways and len(phrased) == 1:
        # "check off 5" has no word for the state.
        taken.take(one.name, phrased[0])


def _minutes(span: str) -> int | str:
    """How long a span is, so that a day is as long as 24 hours; what is no span is only itself."""
    factor = _MINUTES.get(span[-1:], 0)
    return int(span[:-1]) * factor if factor and span[:-1].isdecimal() else span


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
    return any(set(meanings(word.stem)) & set(one.words) for word in near)


def _cue_choice(taken: Taken, token: Token, one: Parameter) -> None:
    """Mark the choice with the words around it that speak of its parameter."""
    start, end = token.start, token.end
    for word in taken.message.before(token.start, 2):
        if word.stem not in one.words:
            break
        start = word.start
    for word in taken.message.after(token.end, 1):
        end = word.end if word.stem in one.words else end
    taken.cue(one.name, start, end)


def _is_not_so(taken: Taken, token: Token, profile: Profile) -> bool:
    """Whether a state is denied or yet to be reached: "isn't finished", "still to get done"."""
    words = [one.lower for one in taken.message.before(token.start, 3)]
    denied = any(one in _DENYING or one.endswith("n't") for one in words)
    to_come = profile.action in READING and words[:1] in (["get"], ["be"])
    return to_come or (denied and profile.action is Action.UPDATE)


def _take_all(taken: Taken, one: Parameter) -> None:
    found = {
        choice: place
        for choice in one.choices
        if (place := _named(taken, choice) or _told(taken, choice, one.choices))
    }
    if found:
        taken.take(one.name, sorted(found, key=lambda choice: found[choice]))
        for place in found.values():
            taken.cue(one.name, *place)


def _named(taken: Taken, choice: str) -> tuple[int, int] | None:
    match = re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", taken.message.text, re.IGNORECASE)
    return match.span() if match else None


def _told(taken: Taken, choice: str, choices: Sequence[str]) -> tuple[int, int] | None:
    """Where a choice is told by a word of its own, such as the last one of its name."""
    parts = {each: frozenset(map(stem, name_parts(each))) for each in choices}
    shared = frozenset.intersection(*parts.values()) if parts else frozenset()
    others = [each for each in choices if each != choice]
    own = parts[choice].difference(*(parts[each] for each in others))
    fuller = (
        frozenset(word for each in others if parts[each] > parts[choice] for word in parts[each])
        - parts[choice]
    )
    telling = own or parts[choice] - shared
    for token in _spoken(taken):
        if not set(meanings(token.stem)) & telling:
            continue
        near = [*taken.message.before(token.start, 1), *taken.message.after(token.end, 1)]
        if own or not any(set(meanings(one.stem)) & fuller for one in near):
            return token.span
    return None


def _take_switch(taken: Taken, one: Parameter) -> None:
    """A switch is on when its words are said, off when they are refused."""
    telling = [word for word in one.words if word not in _SWITCH_WORDS]
    tokens = _spoken(taken)
    places = [next((t for t in tokens if t.stem == word), None) for word in telling]
    said = [place for place in places if place is not None]
    if telling and len(said) == len(places) and _together(said):
        first = min(place.start for place in said)
        before = max(0, first - 40)
        refused = _REFUSING.search(taken.message.text[before:first])
        taken.take(one.name, refused is None)
        first = before + refused.start() if refused else first
        taken.cue(one.name, first, max(place.end for place in said))
    elif _tells_what_it_adds(taken.message, one):
        taken.take(one.name, True)
    elif "revers" in one.words and (match := _SORTING.search(taken.message.text)):
        taken.take(one.name, True)
        taken.cue(one.name, match.start(), match.end())


def _tells_what_it_adds(message: Message, one: Parameter) -> bool:
    """Whether what a switch adds is asked for: "also list each dependency", "count … by error code"."""
    match = _ADDS.search(one.description)
    if match is None or one.schema.get("default") is not False:
        return False
    wanted = [stem(word) for word in (match[1] or match[2]).lower().split()]
    said = [token.stem for token in message.tokens]
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said)))


def _together(said: Sequence[Token]) -> bool:
    return max(one.end for one in said) - min(one.start for one in said) <= 30
