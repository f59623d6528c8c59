"""Whether a message plainly orders a call, or the agent has to ask before it makes it.

What reads may be called on a guess. Anything else is called only where every word of the message is
accounted for: the order, its thing, the arguments and what announces them, courtesies. So no word that
limits, puts off or takes back an order is overlooked, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.beside import Beside, Piece, beside, overlap
from agent.router.changing import changes
from agent.router.effects import Effect
from agent.router.extract import Extracted
from agent.router.extract.taken import Span
from agent.router.making import makes
from agent.router.message import Message
from agent.router.naming import BETWEEN, JOINING, each_id_is_its_own, is_code, is_thing, needed
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, SLANG, Action, meanings
from agent.router.words import Token, word_set

_AFTER: Final = word_set("from off it that")
_PHRASES: Final = re.compile(r"get rid of\b|throw (?:away|out)\b", re.IGNORECASE)
_LEADING: Final = word_set("of for from in to on")


def unchanged(profile: Profile, extracted: Extracted) -> tuple[str, ...]:
    """The arguments of which an update needs one, where the message tells none.

    A tool with a verb of its own needs none: closing an issue is a change by itself.
    """
    required = {one.name for one in profile.required}
    open_to = tuple(one.name for one in profile.parameters if not one.required)
    named = bool(set(extracted.arguments) - required)
    return open_to if profile.is_general_update and required and not named else ()


def sure(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether the message orders this call, and no reader could take it for anything else.

    Arguments that are missing are no doubt: "delete a todo" is a plain order as far as it goes.
    """
    if profile.effect is Effect.READS:
        return True
    if message.cut or message.only_asks or message.denied & profile.verbs or overlap(extracted):
        return False
    said = beside(profile, message, extracted)
    if profile.effect is Effect.WRITES and profile.action is Action.CREATE:
        return makes(profile, message, extracted, said)
    if not said.plain or any(one.ordinal or one.text.startswith("-") for one in extracted.used):
        # The 5th of a list is hardly the one with the number 5, and a dash is no minus.
        return False
    if profile.effect is Effect.WRITES and profile.is_general_update:
        return changes(profile, message, extracted, said)
    return _orders_just_this(profile, message, extracted, said)


def _orders_just_this(
    profile: Profile, message: Message, extracted: Extracted, said: Beside
) -> bool:
    """`please delete the todo with the number 5 from my list`"""
    lead = _lead(profile, message, said)
    aimless = profile.effect is Effect.DESTROYS and not (extracted.arguments or extracted.missing)
    if lead is None or aimless or extracted.loose:
        return False
    pieces = said.without(lead)
    return (
        (profile.effect is Effect.WRITES or _names_what(profile, message, extracted, pieces))
        and each_id_is_its_own(profile, pieces)
        and all(_belongs(profile, pieces, place) for place in range(len(pieces)))
    )


def _lead(profile: Profile, message: Message, said: Beside) -> Span | None:
    """Where the verb stands that orders what the tool does."""
    if profile.effect is Effect.DESTROYS:
        found = (_PHRASES.match(message.text, one.start) for one in said.leads)
        phrase = next((match for match in found if match), None)
        if phrase:
            return phrase.span()
    word = said.led_by(lambda word: _orders(word, profile))
    return word.span if word else None


def _orders(word: Token, profile: Profile) -> bool:
    """Whether a word is a verb for what the tool does."""
    if profile.effect is Effect.DESTROYS and ACTIONS.get(word.stem) is Action.DELETE:
        return word.lower not in SLANG
    if profile.effect is Effect.WRITES:
        return any(set(meanings(word.stem)) & set(meanings(verb)) for verb in profile.verbs)
    return word.stem in profile.verbs


def _names_what(
    profile: Profile, message: Message, extracted: Extracted, pieces: Sequence[Piece]
) -> bool:
    """Whether all is named that the tool is about; a code of the right shape names its thing."""
    if is_code(profile, message, extracted):
        return True
    words = [one.word for one in pieces if one.word]
    return all(
        any(set(meanings(word.stem)) & set(meanings(thing)) for word in words)
        for thing in needed(profile)
    )


def _belongs(profile: Profile, pieces: Sequence[Piece], place: int) -> bool:
    """Whether a piece belongs to a plain order."""
    one = pieces[place]
    if one.word is None or one.lower in BETWEEN or is_thing(one, profile, pieces):
        return True
    if one.lower in JOINING and _leads_to_more(profile, pieces, place):
        return True
    return one.lower in _AFTER and any(other.name for other in pieces[:place])


def _leads_to_more(profile: Profile, pieces: Sequence[Piece], place: int) -> bool:
    """Whether a word joins an argument to the order, or one thing of the tool to another."""
    following = next((one for one in pieces[place + 1 :] if one.lower not in BETWEEN), None)
    if following is None:
        return False
    given = following.name and following.name not in {p.name for p in profile.required if p.is_id}
    joins = pieces[place].lower in _LEADING and place > 0
    things = is_thing(following, profile, pieces) and joins
    return bool(given) or (things and is_thing(pieces[place - 1], profile, pieces))
