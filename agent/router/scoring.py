"""How well a tool fits a message: words, verb, values and arguments, each worth something."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from agent.router.extract import Extracted, extract
from agent.router.extract.numbers import alike
from agent.router.message import Kind, Message
from agent.router.parameters import Type
from agent.router.profile import Catalogue, Profile
from agent.router.thesaurus import ACTIONS, READING, WRITING, Action, meanings
from agent.router.words import STOP_WORDS, name_parts, stem, tokens

# Chosen on the development part of the intents.
LEAST: Final = 2.0
SAME_ACTION: Final = 2.0
OTHER_READING: Final = 0.3
CLASH: Final = -2.5
UNASKED_WRITE: Final = -2.0
QUESTION: Final = 2.2
GENERAL: Final = 1.0
ASKED_OF_THING: Final = 1.2
VALUE_USED: Final = 1.0
VALUE_LEFT: Final = -0.9
MISSING: Final = -0.8
ABOUT_ITS_THING: Final = 0.8
POINTED: Final = 2.0
SOUGHT: Final = 1.2
FROM_DOCUMENTS: Final = 3.0
# In a name these say which one of a thing; alone they are about nothing.
_QUALIFYING: Final = frozenset({"last", "first", "next", "all", "by", "full", "current", "latest"})
SEARCHED: Final = (1.2, 0.7, 0.4, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Scored:
    """A tool with its score and what spoke for it."""

    profile: Profile
    extracted: Extracted
    score: float
    reason: str


def scored(
    profile: Profile,
    message: Message,
    catalogue: Catalogue,
    found: Sequence[str],
    possible: AbstractSet[Action],
    *,
    alone: bool = False,
) -> Scored | None:
    """The score of a tool; None when nothing at all connects it with the message.

    `possible` are the actions of all tools that are connected with it: a doubtful verb of any other
    action is none. `alone` says that no other tool does what the message orders of a number.
    """
    shared = {term for term in message.meanings if term in profile.weights}
    if not alone and not _touches(profile, message, shared):
        return None
    if not _may(profile, message):
        return None
    extracted = extract(profile, message)
    asked = tuple(one for one in message.actions if one not in message.doubtful or one in possible)
    parts = {
        "words": _words(profile, shared, catalogue),
        "verb": _verb(profile, message, asked, extracted),
        "values": _values(profile, message, extracted),
        "question": _question(profile, message),
        "search": _searched(profile, found),
        "number": POINTED if alone else 0.0,
        "sought": _sought(profile, message),
    }
    telling = sorted(
        shared, key=lambda term: (-profile.weights[term] * catalogue.rarity(term), term)
    )
    reason = f"words {', '.join(telling[:4]) or 'none'}; " + ", ".join(
        f"{key} {value:+.1f}" for key, value in parts.items() if value
    )
    return Scored(profile, extracted, round(sum(parts.values()), 4), reason)


def connected(profile: Profile, message: Message) -> bool:
    """Whether a message is about what the tool is about."""
    return bool(_telling_name(profile) & message.meanings)


def _may(profile: Profile, message: Message) -> bool:
    """Whether the message leaves open that the tool is wanted; to delete, it has to be said."""
    if profile.action is Action.DELETE and Action.DELETE not in message.actions:
        return False
    return profile.action not in message.refused


def only_asked_how(profile: Profile, message: Message) -> bool:
    """Whether a message asks how to do what the tool does; neither it nor documents tell that."""
    return (
        message.asks_how
        and not message.from_documents
        and profile.action in message.refused
        and profile.action in message.actions
        and connected(profile, message)
    )


def _touches(profile: Profile, message: Message, shared: set[str]) -> bool:
    """Whether a message is about what the tool is about, or asks what it could answer."""
    if profile.answers_questions:
        if message.live or not message.meanings:
            return False
        if message.from_documents:
            return True
        return message.asks or message.tells or bool(shared & _telling_name(profile))
    if _telling_name(profile) & message.meanings:
        return True
    if profile.nouns & message.meanings and _said(profile, message) > 1:
        return True
    return (
        _dates_spoken_of(profile, message)
        or _shaped(profile, message)
        or _lists_spoken_of(profile, message)
    )


def _lists_spoken_of(profile: Profile, message: Message) -> bool:
    """So may what things are sorted under: "everything tagged infra"."""
    return profile.action in READING and any(
        one.type is Type.TEXTS and one.meanings & message.meanings for one in profile.parameters
    )


def points_at(profile: Profile, message: Message) -> bool:
    """Whether the message orders what the tool does, of a thing that it gives only the number of."""
    numbers = [one for one in message.values if one.kind is Kind.NUMBER]
    if profile.action is Action.DELETE and len(numbers) > 1:
        # Which of them is meant is a guess, and nothing is deleted on one.
        return False
    numbered = [one for one in profile.required if one.is_id and one.type is Type.INTEGER]
    return (
        profile.action in (Action.UPDATE, Action.DELETE)
        and message.action is profile.action
        and bool(message.pointed)
        and len(numbered) == len(profile.required) == 1
    )


def _dates_spoken_of(profile: Profile, message: Message) -> bool:
    """A tool's dates may be spoken of without its thing: "what is due before Friday?"."""
    dated = [one for one in profile.parameters if one.type is Type.DATE]
    return any(set(one.words[:1]) & message.meanings for one in dated) and any(
        value.kind is Kind.DAY for value in message.values
    )


def _shaped(profile: Profile, message: Message) -> bool:
    """Whether the message has a value that looks like the examples of one the tool needs."""
    return any(
        alike(value.text, one.examples)
        for one in profile.required
        for value in message.values
        if value.kind is Kind.CODE
    )


def _said(profile: Profile, message: Message) -> int:
    """How many words of the message the tool's texts have, in their own or in other words."""
    return sum(
        token.lower not in STOP_WORDS
        and any(one in profile.weights for one in meanings(token.stem))
        for token in message.tokens
    )


def _telling_name(profile: Profile) -> set[str]:
    return {stem(part) for part in name_parts(profile.name)} - set(ACTIONS) - _QUALIFYING


def _words(profile: Profile, shared: set[str], catalogue: Catalogue) -> float:
    """The words in common, rare ones and those of the name above all; each further one adds less."""
    worth = sorted(
        (profile.weights[term] * catalogue.rarity(term) for term in shared), reverse=True
    )
    score = sum(value * 0.85**place for place, value in enumerate(worth))
    things = _telling_name(profile) & shared
    return score + (ABOUT_ITS_THING if things and not profile.answers_questions else 0.0)


def _verb(
    profile: Profile, message: Message, asked: Sequence[Action], extracted: Extracted
) -> float:
    """What the message wants done beside what the tool does."""
    action = profile.action
    if profile.answers_questions:
        return 0.0
    if action in WRITING:
        return _writing(profile, message, asked, extracted)
    if asked and asked[0] in WRITING and not message.asks:
        return CLASH
    if not asked or action is None:
        spoken_of = connected(profile, message) or _dates_spoken_of(profile, message)
        return ASKED_OF_THING if message.asks and spoken_of else 0.0
    if asked[0] in (action, profile.also_reads):
        return SAME_ACTION
    return OTHER_READING


def _writing(
    profile: Profile, message: Message, asked: Sequence[Action], extracted: Extracted
) -> float:
    """A tool that changes something must be asked to."""
    action = profile.action
    if asked and asked[0] is action:
        return SAME_ACTION
    if action is Action.CREATE and _labels(profile, message):
        return SAME_ACTION
    if action is Action.UPDATE and not message.asks and asked[:1] != (Action.DELETE,):
        # A statement about one thing: "todo 2 should be active".
        told = [one for one in profile.required if one.name in extracted.arguments]
        if told and len(extracted.arguments) > len(told):
            return SAME_ACTION * 0.5
    if not asked:
        return UNASKED_WRITE
    if action in asked:
        # Said, but not first: "show what I finished" wants to see, not to finish.
        return -0.6 if asked[0] in READING or message.asks else SAME_ACTION * 0.5
    return CLASH


def _labels(profile: Profile, message: Message) -> bool:
    """Whether the message is a text under the name of the tool's thing: `todo: clean the garage`."""
    head, colon, tail = message.text.partition(":")
    words = tokens(head)
    return bool(colon and tail.strip() and words) and all(
        set(meanings(word.stem)) & _telling_name(profile) or word.lower in STOP_WORDS
        for word in words
    )


def _values(profile: Profile, message: Message, extracted: Extracted) -> float:
    """Values of the message that found a place, and required places that found no value."""
    score = MISSING * len(extracted.missing)
    if profile.answers_questions:
        return score + 0.5 * (len(extracted.arguments) - 1)
    countable = [one for one in message.values if one.kind is not Kind.SPAN]
    used = [one for one in countable if one in extracted.used]
    texts = [value for value in extracted.arguments.values() if isinstance(value, str)]
    left = [
        one for one in countable if one not in used and not any(one.text in text for text in texts)
    ]
    score += VALUE_USED * min(len(used), 4) + VALUE_LEFT * min(len(left), 4)
    optional = len(extracted.arguments) - len(used)
    return score + 0.35 * min(max(optional, 0), 3)


def _question(profile: Profile, message: Message) -> float:
    if not profile.answers_questions:
        return 0.0
    asked = QUESTION if message.asks or message.tells or message.from_documents else 0.0
    if message.from_documents and stem("document") in profile.weights:
        asked += FROM_DOCUMENTS
    return asked + (GENERAL if profile.is_general else 0.0)


def _sought(profile: Profile, message: Message) -> float:
    """The last noun of a name is what the tool gives."""
    given = [stem(part) for part in name_parts(profile.name) if stem(part) not in ACTIONS][-1:]
    return SOUGHT if message.sought & set(given) and not profile.answers_questions else 0.0


def _searched(profile: Profile, found: Sequence[str]) -> float:
    if profile.name not in found[: len(SEARCHED)]:
        return 0.0
    return SEARCHED[list(found).index(profile.name)]
