"""Orders to make a new thing. What it is to say is free text, so the words around that tell the order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.beside import Beside, Piece
from agent.router.extract import Extracted
from agent.router.leftovers import makes_several, swallows_an_order
from agent.router.message import Message
from agent.router.naming import BETWEEN, is_thing
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, NEEDING, PUTTING, Action, meanings, phrase_meanings
from agent.router.words import Token, stems, tokens, word_set

_JOINING: Final = word_set(
    "to for about of on in it is and as be titled some another us me following one ticket note it's up"
)
# These may speak of a thing that is there, or of none.
_NO_ORDERS: Final = word_set("forget mention")
# What is to be kept in mind is something to do.
_REMINDING: Final = re.compile(
    r"(?:remind (?:me|us)|(?:i |we )?(?:must |should |can )?(?:don['’]?t|do not|not|never) (?:let (?:me|us) )?forget"
    r"|(?:(?:i|we) (?:really )?(?:(?:need|have) to|must) )?remember(?=:| to\b))",
    re.IGNORECASE,
)
_NEEDING: Final = re.compile(
    r"(?:i|we)(?: am|['’]m)?(?: really| also)? (?:need|want)(?:ing)?\b", re.IGNORECASE
)
_HEADING: Final = re.compile(r"[^\d:.;!?\n]{1,80}:")
_DUE: Final = re.compile(
    r"\b(?:down )?that (?:i|we)(?:[\'’]ve)? (?:have|need|must|should|got)(?: got)?(?: to)?\b|\bneeds to be (?:done|finished)\b|\bit(?:['’]s| is| should be| must be| has to be) (?:due|done|finished)\b",
    re.IGNORECASE,
)
_NOTHING: Final = word_set("no nothing none")
_LETTER: Final = re.compile(r"[^\W\d_]")
# Behind a comma or a full stop these take back what was said before.
_TAKING_BACK: Final = re.compile(
    r"[.;!?]\s|[,–—-]\s*(?:(?:oh|hm+|but|or|and) )?(?:no|not|never ?mind|wait|sorry|actually|rather|instead|scratch"
    r"|forget|just kidding|unless|if|but|only|except|don['’]?t|do not|stop|cancel)\b",
    re.IGNORECASE,
)


def makes(profile: Profile, message: Message, extracted: Extracted, said: Beside) -> bool:
    """Whether it is said that this one thing is to be made."""
    asked = not said.plain and ":" not in message.text
    if asked or makes_several(profile, message) or swallows_an_order(profile, message, extracted):
        return False
    reminders = [] if "todo" not in meanings(profile.thing) else _said(_REMINDING, message, said)
    needs = _said(_NEEDING, message, said)
    due = [one.span() for one in _DUE.finditer(message.text)]
    lead = said.led_by(lambda word: _makes(word, profile) or _sets_up(word, message))
    told = said.without(lead.span if lead else None, *reminders, *needs, *due)
    things = any(is_thing(one, profile, told) for one in told)
    spoken = phrase_meanings(said.rest.lower()) & set(meanings(profile.thing))
    spoken |= {one for word in stems(said.rest) for one in meanings(word)} & set(profile.things)
    named = things or bool(spoken or reminders) or not profile.things
    heads = bool(_HEADING.match(message.lowered)) and things
    if _only_hints(message) and not (things and (lead or heads)) and not reminders:
        return False
    return (
        named
        and bool(lead or reminders or needs or heads)
        and all(_belongs(profile, told, one) for one in told)
        and not any(_misread(profile, message, extracted, name) for name in extracted.loose)
    )


def _only_hints(message: Message) -> bool:
    """Whether what somebody has to do is told, or where a thing belongs, which may be no order."""
    return any(re.search(pattern, message.lowered) for pattern in (NEEDING, PUTTING))


def _said(pattern: re.Pattern[str], message: Message, said: Beside) -> list[tuple[int, int]]:
    """Where a clause begins with such words."""
    found = (pattern.match(message.text, one.start) for one in said.leads)
    return [match.span() for match in found if match]


def _makes(word: Token, profile: Profile) -> bool:
    if word.lower in _NO_ORDERS:
        return False
    return ACTIONS.get(word.stem) is Action.CREATE or word.stem == profile.begins


def _sets_up(word: Token, message: Message) -> bool:
    """Whether something is to be set up, which changes nothing that is there."""
    return word.lower == "set" and any(one.lower == "up" for one in message.after(word.end, 1))


def _belongs(profile: Profile, pieces: Sequence[Piece], one: Piece) -> bool:
    """Whether a piece belongs to a plain order."""
    if one.word is None or one.lower in BETWEEN | _JOINING or is_thing(one, profile, pieces):
        return True
    return ACTIONS.get(one.word.stem) is Action.CREATE and one.lower not in _NO_ORDERS


def _misread(profile: Profile, message: Message, extracted: Extracted, name: str) -> bool:
    """Whether a text without quotes is none, says that there is to be none, or takes back the order."""
    text = str(extracted.arguments.get(name, ""))
    first = next(iter(tokens(text)[:1]), None)
    if first is None or first.lower in _NOTHING or not _LETTER.search(text):
        return True
    start = next((start for start, _ in extracted.places.get(name, ())), 0)
    # "add a note to todo 5: call first"
    behind = message.before(start, 1) if message.text[:start].rstrip()[-1:] != ":" else ()
    numbered = first.is_number and any(
        set(meanings(one.stem)) & set(meanings(profile.thing)) for one in behind
    )
    return numbered or bool(_TAKING_BACK.search(text))
