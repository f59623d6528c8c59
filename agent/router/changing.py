"""Orders to change fields of a thing: "mark 5 as done", "todo 2 should be active again"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from agent.router.beside import Beside, Piece
from agent.router.extract import Extracted
from agent.router.leftovers import swallows_an_order
from agent.router.message import Message
from agent.router.naming import BETWEEN, each_id_is_its_own, ids, is_thing
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, WRITING, Action, meanings
from agent.router.words import Token, stem, tokens, word_set

_JOINING: Final = word_set(
    "of to as is are it its with into in on at and be has for off again s set change back up"
)
_FIRST_PERSON: Final = word_set("i i'm i've we we're we've am are have just")
_STATES: Final = word_set("done finished completed")
# How many words may announce a day.
LONGEST_CUE: Final = 6
_FINISHED: Final = re.compile(
    r"(?:i|we)(?:['’]m| am|['’]re| are|['’]ve| have)? (?:just |now )?(?:finished|completed|done)\b",
    re.IGNORECASE,
)
_WISHES: Final = (["should", "be"], ["must", "be"], ["shall", "be"], ["has", "to", "be"])
_VERBS: Final = (*_WISHES, ["is"], ["are"])
# What takes the place of all that was there has to be said to.
_REPLACING: Final = frozenset(map(stem, word_set("set replace change")))
_MOVING: Final = frozenset(
    map(stem, word_set("move push postpone reschedule delay defer shift bump"))
)
_UP_TO: Final = word_set("to until till")
# In a text without quotes these may as well speak of the order.
_LIMITING: Final = re.compile(
    r"[,.;!?]\s|\b(?:if|unless|once|when|until|but|instead|not|never|only|except|assuming|whatever|also|then)\b",
    re.IGNORECASE,
)


def changes(profile: Profile, message: Message, extracted: Extracted, said: Beside) -> bool:
    """Whether it is said that just these fields of one thing are to change, or have changed."""
    lead = said.led_by(_changes)
    told = said.without(lead.span if lead else None)
    finished = any(_FINISHED.match(message.text, one.start) for one in said.leads)
    if lead is None and not finished:
        stated = _stated(profile, message, told)
        if stated is None:
            return False
        told = stated
    return (
        _replaces_only_what_is_said(profile, message, extracted, lead)
        and not swallows_an_order(profile, message, extracted)
        and not any(_is_doubtful(message, extracted, name) for name in extracted.loose)
        and each_id_is_its_own(profile, told)
        and all(_belongs(profile, extracted, told, one, finished=finished) for one in told)
    )


def _is_doubtful(message: Message, extracted: Extracted, name: str) -> bool:
    """Whether a text without quotes may be more or less than a text: "as discussed", "bread and delete it"."""
    text = str(extracted.arguments.get(name, ""))
    start = next((start for start, _ in extracted.places.get(name, ())), 0)
    compared = any(one.lower == "as" for one in message.before(start, 1))
    orders = any(
        one.lower == "and" and ACTIONS.get(verb.stem) in WRITING
        for one, verb in pairwise(tokens(text))
    )
    return compared or orders or bool(_LIMITING.search(text))


def _changes(word: Token) -> bool:
    """Whether a word is a verb that changes something."""
    return ACTIONS.get(word.stem) is Action.UPDATE or word.lower == "put"


def _stated(profile: Profile, message: Message, pieces: Sequence[Piece]) -> Sequence[Piece] | None:
    """What is left of `todo 2 should be active again` without its verb; None where it says nothing like that.

    That a thing should be done by then is no news of it.
    """
    named = [one.name for one in ids(profile)]
    place = next((at for at, one in enumerate(pieces) if one.name in named), len(pieces))
    before, behind = pieces[:place], pieces[place + 1 :]
    state = next((one for one in behind if one.name), None)
    known = all(one.lower in BETWEEN or is_thing(one, profile, pieces) for one in before)
    if state is None or not known:
        return None
    words = [one.lower for one in behind]
    verb = next((verb for verb in _VERBS if words[: len(verb)] == verb), [])
    said = next((one.lower for one in message.after(state.start, 1)), "")
    told = behind[len(verb) :]
    if not told or not (told[0].name or is_thing(told[0], profile, pieces)):
        return None
    past = said.endswith("ed") or said == "done"
    if verb in _WISHES and past:
        return None
    colon = ":" in message.text[: state.start]
    return [*pieces[: place + 1], *told] if verb or colon or said in _STATES else None


def _replaces_only_what_is_said(
    profile: Profile, message: Message, extracted: Extracted, lead: Token | None
) -> bool:
    """Whether nothing is lost or set that the order does not name.

    A list takes the place of the one that is there. A day beside a state may say when that is to be.
    """
    told = [one for one in profile.parameters if one.name in extracted.arguments]
    kinds = {one.type for one in told}
    if kinds & {Type.TEXTS, Type.CHOICES} and (lead is None or lead.stem not in _REPLACING):
        return False
    if Type.DATE not in kinds:
        return True
    days = [one for one in told if one.type is Type.DATE]
    return Type.CHOICE not in kinds and all(_is_new(one, message, extracted, lead) for one in days)


def _is_new(one: Parameter, message: Message, extracted: Extracted, lead: Token | None) -> bool:
    """Whether a day is the one that is to be set, and not the one on which to do so."""
    for start, end in extracted.announced.get(one.name, ()):
        said = (token for token in message.after(start, LONGEST_CUE) if token.start < end)
        if any(set(meanings(token.stem)) & one.meanings and token.lower != "by" for token in said):
            return True
    start = min((start for start, _ in extracted.places.get(one.name, ())), default=0)
    near = (token.lower for token in message.before(start, 2))
    before = next((word for word in near if word != "the"), "")
    moves = lead is not None and lead.stem in _MOVING
    return before in _UP_TO or (moves and before == "for")


def _belongs(
    profile: Profile,
    extracted: Extracted,
    pieces: Sequence[Piece],
    one: Piece,
    *,
    finished: bool,
) -> bool:
    """Whether a piece belongs to a plain order, or says the same state again: "I'm done with 5, tick it off"."""
    if one.word is None or one.lower in BETWEEN | _JOINING or is_thing(one, profile, pieces):
        return True
    if finished and one.lower in _FIRST_PERSON:
        return True
    states = [extracted.arguments.get(p.name) for p in profile.parameters if p.type is Type.CHOICE]
    said = set(meanings(one.word.stem))
    return any(
        said & set(meanings(stem(state.lower()))) for state in states if isinstance(state, str)
    )
