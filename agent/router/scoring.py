"""How well a tool fits a message: words, verb, values and arguments, each worth something."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from agent.router.doubts import speaks_of_another
from agent.router.extract import Extracted, extract
from agent.router.message import Message
from agent.router.parameters import Type, is_short_scale
from agent.router.permits import connected, may, telling_name
from agent.router.phrases import joins_kinds
from agent.router.profile import LEAD, Catalogue, Profile
from agent.router.questions import question, says_manner, shaped
from agent.router.said_values import Kind
from agent.router.thesaurus import ACTIONS, READING, WRITING, Action, meanings
from agent.router.words import STOP_WORDS, name_parts, stem, tokens

# Chosen on the development part of the intents.
LEAST: Final = 2.0
SAME_ACTION: Final = 2.0
OTHER_READING: Final = 0.3
CLASH: Final = -2.5
UNASKED_WRITE: Final = -2.0
ASKED_OF_THING: Final = 1.2
VALUE_USED: Final = 1.0
VALUE_LEFT: Final = -0.9
MISSING: Final = -0.8
ABOUT_ITS_THING: Final = 0.8
POINTED: Final = 2.0
SOUGHT: Final = 1.2
SHAPED: Final = 1.9
WHOLE: Final = 1.5
WHOLLY_NAMED: Final = 0.6
SPANNED: Final = 1.0
COMPARED: Final = 0.8
CODE_LEFT: Final = -1.5
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
    if not alone and not _touches(profile, message, shared, catalogue):
        return None
    if not may(profile, message):
        return None
    extracted = extract(profile, message)
    if _changes_nothing(profile, message, extracted) or speaks_of_another(profile, extracted):
        return None
    asked = tuple(
        one for one in message.actions if alone or one not in message.doubtful or one in possible
    )
    parts = {
        "words": _words(profile, shared, catalogue),
        "verb": _verb(profile, message, asked, extracted),
        "values": _values(profile, message, extracted),
        "question": question(profile, message, catalogue),
        "search": _searched(profile, found),
        "number": POINTED if alone else 0.0,
        "sought": _sought(profile, message),
        "code": _coded(profile, message),
    }
    telling = sorted(
        shared, key=lambda term: (-profile.weights[term] * catalogue.rarity(term), term)
    )
    reason = f"words {', '.join(telling[:4]) or 'none'}; " + ", ".join(
        f"{key} {value:+.1f}" for key, value in parts.items() if value
    )
    return Scored(profile, extracted, round(sum(parts.values()), 4), reason)


def _changes_nothing(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether a tool that updates is only spoken to of a thing: "details of todo 5"."""
    required = {one.name for one in profile.required}
    return (
        profile.action is Action.UPDATE
        and Action.UPDATE not in message.actions
        and not set(extracted.arguments) - required
    )


def _touches(profile: Profile, message: Message, shared: set[str], catalogue: Catalogue) -> bool:
    """Whether a message is about what the tool is about, or asks what it could answer."""
    if profile.answers_questions:
        if message.live or not message.meanings:
            return False
        if message.from_documents:
            return True
        named = bool(shared & telling_name(profile))
        return message.asks or message.tells or named or says_manner(profile, message, catalogue)
    if telling_name(profile) & message.meanings:
        return True
    if profile.nouns & message.meanings and _said(profile, message) > 1:
        return True
    return (
        _dates_spoken_of(profile, message)
        or shaped(profile, message)
        or _sorting_spoken_of(profile, message)
    )


def _sorting_spoken_of(profile: Profile, message: Message) -> bool:
    """So may what things are sorted under: "everything tagged infra", "all the priority 5 stuff"."""
    makes = profile.action is Action.CREATE and message.action is Action.CREATE
    if profile.action not in READING and not makes:
        return False
    return any(
        (one.type is Type.TEXTS or is_short_scale(one)) and one.meanings & message.meanings
        for one in profile.parameters
    )


def points_at(profile: Profile, message: Message) -> bool:
    """Whether the message orders what the tool does, of a thing that it gives only the number of."""
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
    named = any(value.kind is Kind.DAY for value in message.values)
    spanned = profile.action in READING and bool(message.spans)
    return (named or spanned) and any(set(one.words[:1]) & message.meanings for one in dated)


def _said(profile: Profile, message: Message) -> int:
    """How many words of the message the tool's texts have, in their own or in other words."""
    return sum(
        token.lower not in STOP_WORDS
        and any(one in profile.weights for one in meanings(token.stem))
        for token in message.tokens
    )


def _words(profile: Profile, shared: set[str], catalogue: Catalogue) -> float:
    """The words in common, rare ones and those of the name above all; each further one adds less."""
    worth = sorted(
        (profile.weights[term] * catalogue.rarity(term) for term in shared), reverse=True
    )
    score = sum(value * 0.85**place for place, value in enumerate(worth))
    things = telling_name(profile) & shared
    if not things or profile.answers_questions:
        return score
    return score + ABOUT_ITS_THING + (WHOLLY_NAMED if len(things) > 1 else 0.0)


def _verb(
    profile: Profile, message: Message, asked: Sequence[Action], extracted: Extracted
) -> float:
    """What the message wants done beside what the tool does."""
    action = profile.action
    if profile.answers_questions:
        return 0.0
    if action in WRITING:
        return _writing(profile, message, asked, extracted)
    if asked and asked[0] in WRITING and not message.asks and not message.tells:
        return CLASH
    if not asked or action is None:
        spoken_of = (
            connected(profile, message)
            or _dates_spoken_of(profile, message)
            or _said(profile, message) > 1
        )
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
    if action is Action.UPDATE and [] in extracted.arguments.values():
        # To take all of a list off a thing deletes nothing but that.
        return SAME_ACTION
    if action is Action.UPDATE and not message.asks and asked[:1] != (Action.DELETE,):
        # A statement about one thing: "todo 2 should be active".
        told = [one for one in profile.required if one.name in extracted.arguments]
        if told and len(extracted.arguments) > len(told):
            return SAME_ACTION * 0.5
    if asked and action in asked:
        # Said, but not first: "show what I finished" wants to see, not to finish.
        return -0.6 if asked[0] in READING or message.asks else SAME_ACTION * 0.5
    return CLASH if asked else UNASKED_WRITE


def _labels(profile: Profile, message: Message) -> bool:
    """Whether the message is a text under the name of the tool's thing: `todo: clean the garage`."""
    head, colon, tail = message.text.partition(":")
    words = tokens(head)
    return bool(colon and tail.strip() and words) and all(
        set(meanings(word.stem)) & telling_name(profile) or word.lower in STOP_WORDS
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
    dated = [one.name for one in profile.parameters if one.type is Type.DATE]
    if message.spans and not used and set(dated) & set(extracted.arguments):
        score += VALUE_USED
    score += CODE_LEFT * any(one.kind is Kind.CODE for one in left)
    spanned = any(one.kind is Kind.SPAN and one in extracted.used for one in message.values)
    lists = [one.name for one in profile.parameters if one.type is Type.CHOICES]
    named = max((len(extracted.arguments.get(name, ())) for name in lists), default=0)
    score += SPANNED * spanned + COMPARED * min(named, 2) * (named > 1 or spanned)
    optional = len(extracted.arguments) - len(used)
    return score + 0.35 * min(max(optional, 0), 3)


def _coded(profile: Profile, message: Message) -> float:
    """A code of the shape that a tool needs speaks for it, more so where all is wanted that it gives."""
    if not shaped(profile, message):
        return 0.0
    whole = stem("whole")
    joined = joins_kinds(message.lowered)
    gives_all = (whole in message.meanings or joined) and profile.weights.get(whole, 0.0) >= LEAD
    return SHAPED + (WHOLE * (1 + joined) if gives_all else 0.0)


def _sought(profile: Profile, message: Message) -> float:
    """The last noun of a name is what the tool gives."""
    given = [stem(part) for part in name_parts(profile.name) if stem(part) not in ACTIONS][-1:]
    return SOUGHT if message.sought & set(given) and not profile.answers_questions else 0.0


def _searched(profile: Profile, found: Sequence[str]) -> float:
    if profile.name not in found[: len(SEARCHED)]:
        return 0.0
    return SEARCHED[list(found).index(profile.name)]
