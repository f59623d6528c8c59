"""Which tool of a family is meant, by what is said of its thing, where the rules for phrases find none.

Tools that make, list, change, seek and delete the same thing are a family. What a message has tells their
roles apart: a number of the thing and something said of it, a word for seeking and a text, a bare text
behind an opener. Such a choice is a guess: what changes something is always asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from agent.router.doubts import leaves_some_out, takes_a_part
from agent.router.effects import Effect
from agent.router.extract import Extracted, extract
from agent.router.message import Message, greeting_end
from agent.router.openers import obliged_end, opener_end
from agent.router.profile import Profile
from agent.router.questions import manner_of, shaped
from agent.router.scoring import LEAST, Scored
from agent.router.thesaurus import READING, Action, meanings

_SEEKING: Final = re.compile(
    r"\b(?:mention|contain|includ|talk|refer)\w{0,4}\b|\b(?:find|search|look(?:ing)?) (?:for|in|through|among|on|my|our|the)\b"
    r"|\b(?:about|regarding|concerning|word|words|somewhere)\b|\bto do with\b|\bon the\b(?! list\b)"
)
_ABOUT: Final = re.compile(r"\b(?:about|mention\w{0,4}|contain\w{0,4}|word|words|find|search)\b")
# A request in the form of a question.
_REQUEST: Final = re.compile(
    r"^\W*(?:(?:please|so|ok|hey|hi)\W+)*(?:(?:can|could|may|might) (?:we|i)(?: please)? (?!see\b|have\b|get\b)"
    r"|(?:can|could|would|will) you\b|would you mind\b|(?:can|could) (?:the |my |our )?\S+ (?:\S+ ){0,5}?(?:be|say|have|read|get|go)\b)"
)
_GIVING: Final = re.compile(r"\b(?:kick|knock|cross|chuck)\b(?: \S+){1,3} off (?:my|the|our) ")


def by_evidence(
    message: Message, profiles: Sequence[Profile], best: Scored | None
) -> Scored | None:
    """The tool that the evidence speaks for; None where it says no more than the rules did."""
    if message.from_documents or manner_of(message.lowered) & {"rerank", "corrective"}:
        return None
    for roles in _families(profiles):
        found = _of_family(message, roles, best)
        if found is not None:
            profile, extracted = found
            return Scored(profile, extracted, LEAST, f"what is said of a {profile.thing}")
    return None


def _families(profiles: Sequence[Profile]) -> list[dict[Action, Profile]]:
    """The tools for one thing, by what they do to it; a thing that can only be read is none."""
    by_thing: dict[str, dict[Action, Profile]] = {}
    for one in profiles:
        if one.thing and one.action and not one.answers_questions:
            by_thing.setdefault(one.thing, {}).setdefault(one.action, one)
    return [roles for roles in by_thing.values() if len(roles) > 1 and set(roles) - READING]


def _of_family(
    message: Message, roles: Mapping[Action, Profile], best: Scored | None
) -> tuple[Profile, Extracted] | None:
    things = {one for profile in roles.values() for one in meanings(profile.thing)}
    if best and best.profile.action is Action.UPDATE and best.extracted.missing:
        # "task - mow the lawn, tag garden": no thing is named that could be changed.
        made = best.profile in roles.values() and _made(message, roles, things, obliges=False)
        if made:
            return made
    current = best.profile.action if best and best.profile in roles.values() else None
    # "I must email Sue about the tup sale" looks up no tup.
    orders_new = message.action is Action.CREATE and not message.asks
    open_to_all = (
        best is None
        or best.profile.answers_questions
        or (orders_new and best.profile.effect is Effect.READS)
    )
    if not (open_to_all or current):
        return None
    spoken = bool(things & message.meanings)
    if spoken and current in (None, *READING):
        changed = _changed(message, roles)
        if changed is not None:
            return changed
    if current in (None, *READING):
        made = _made(message, roles, things, obliges=current in (None, Action.LIST))
        if made is not None:
            return made
    if spoken and current in (None, Action.LIST):
        return _sought(message, roles) or (_listed(message, roles) if open_to_all else None)
    return None


def _changed(message: Message, roles: Mapping[Action, Profile]) -> tuple[Profile, Extracted] | None:
    """A number of the thing, and something that is said about it and is no mere question."""
    profile = roles.get(Action.UPDATE)
    if profile is None or not profile.is_general_update or leaves_some_out(message):
        return None
    request = bool(_REQUEST.match(message.lowered))
    if message.asks and not request:
        return None
    denied = Action.UPDATE in message.refused and not (message.only_asks and request)
    deletes = Action.DELETE in message.actions or bool(_GIVING.search(message.lowered))
    if denied or (deletes and not _empties(extract(profile, message))):
        return None
    if takes_a_part(profile, message):
        return None
    extracted = extract(profile, message)
    required = {one.name for one in profile.required}
    told = bool(required) and required <= set(extracted.arguments)
    return (profile, extracted) if told and set(extracted.arguments) - required else None


def _empties(extracted: Extracted) -> bool:
    return [] in extracted.arguments.values()


def _made(
    message: Message,
    roles: Mapping[Action, Profile],
    things: AbstractSet[str],
    *,
    obliges: bool,
) -> tuple[Profile, Extracted] | None:
    """A text behind an opener that tells of a thing to be made, or what the speaker has to do."""
    profile = roles.get(Action.CREATE)
    if profile is None or profile.effect is not Effect.WRITES:
        return None
    denied = Action.CREATE in message.refused and not message.only_asks
    opens = opener_end(message.lowered, things)
    obliged = obliges and "todo" in things and not message.asks and obliged_end(message.lowered)
    if denied or not (opens or obliged) or shaped(profile, message):
        return None
    if message.tells and not opens:
        return None
    extracted = extract(profile, message)
    return None if extracted.missing else (profile, extracted)


def _sought(message: Message, roles: Mapping[Action, Profile]) -> tuple[Profile, Extracted] | None:
    """A word for seeking, and a text that is sought."""
    profile = roles.get(Action.SEARCH)
    if profile is None or not _SEEKING.search(message.lowered[greeting_end(message.text) :]):
        return None
    extracted = extract(profile, message)
    return None if extracted.missing else (profile, extracted)


def _listed(message: Message, roles: Mapping[Action, Profile]) -> tuple[Profile, Extracted] | None:
    """A question about the things, without a text."""
    profile = roles.get(Action.LIST)
    if profile is None or not message.asks or _ABOUT.search(message.lowered):
        return None
    named = re.search(r"\bmy (?:\w+ ){0,2}(?:list|todos?|to-dos?|tasks?)\b", message.lowered)
    return (profile, extract(profile, message)) if named else None
