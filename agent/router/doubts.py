"""Messages that speak of a tool's thing and mean another, a part of it, or all but that."""

from __future__ import annotations

import re
from typing import Final

from agent.router.extract import Extracted
from agent.router.extract.lists import empties
from agent.router.message import Message
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, Action, meanings
from agent.router.words import STOP_WORDS, tokens

_LEAVING_OUT: Final = re.compile(
    r"\b(?:except|excluding|apart from|other than|besides|(?:all|everything|anything|any|each|every \w+)"
    r"(?: \w+)? but)\b"
)
# How many words may name the part, and what leads from it to the whole.
LONGEST_PART: Final = 8
_TAKING: Final = frozenset({"take", "strip", "clear", "detach"})
_LEADS_TO: Final = frozenset({"to", "on", "of", "from", "for", "in", "onto", "off"})
_OWNED: Final = frozenset({"#", "my", "the", "our"})
_PART_OF: Final = frozenset({"from", "of", "off", "on", "in"})


def leaves_some_out(message: Message) -> bool:
    """Whether it says what is not meant, so that a number in it may be just that."""
    return bool(_LEAVING_OUT.search(message.lowered))


def takes_a_part(profile: Profile, message: Message) -> bool:
    """Whether something is to be taken from a thing, and not the thing: "remove the due date from todo 5"."""
    if profile.action is Action.UPDATE and any(
        empties(one, message.lowered) for one in profile.parameters
    ):
        return False
    own = set(meanings(profile.thing))
    for verb in message.tokens:
        if ACTIONS.get(verb.stem) is not Action.DELETE and verb.lower not in _TAKING:
            continue
        behind = message.after(verb.end, LONGEST_PART)
        joint = next((at for at, one in enumerate(behind) if one.lower in _PART_OF), 0)
        taken = [one for one in behind[:joint] if one.lower not in STOP_WORDS and one.lower != "#"]
        if taken and not any(one.is_number or set(meanings(one.stem)) & own for one in taken):
            return True
    return False


def speaks_of_another(profile: Profile, extracted: Extracted) -> bool:
    """Whether the text for a thing to be made only points at one that is there: "to todo 5"."""
    if profile.action is not Action.CREATE:
        return False
    texts = [value for value in extracted.arguments.values() if isinstance(value, str)]
    return any(_points_at(profile, value) or _adds_to(profile, value) for value in texts)


def _adds_to(profile: Profile, value: str) -> bool:
    """Whether a text begins with a field of one that is there: "description to todo 3: …"."""
    words = [one for one in tokens(value)[:LONGEST_PART] if one.lower not in _OWNED]
    if len(words) < len(("description", "to", "todo", "3")):
        return False
    fields = {one for parameter in profile.parameters for one in parameter.meanings}
    for field, joint, thing, number in zip(words, words[1:], words[2:], words[3:], strict=False):
        if joint.lower in _LEADS_TO and number.is_number:
            things = set(meanings(thing.stem)) & set(meanings(profile.thing))
            return bool(things and set(meanings(field.stem)) & fields)
    return False


def _points_at(profile: Profile, value: str) -> bool:
    words = tokens(value)
    rest = [one for one in words if one.lower not in STOP_WORDS and one.lower != "#"]
    return (
        len(rest) == 2
        and words[0].lower in _LEADS_TO
        and bool(set(meanings(rest[0].stem)) & set(meanings(profile.thing)))
        and rest[1].is_number
    )
