"""What a message wants done, and what it speaks of without wanting it.

A tool that changes something is called at once, so a verb alone is no order: it may be denied
("don't delete 5"), asked about ("is 5 done?"), or no verb at all ("drop by the shop").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agent.router.thesaurus import ACTIONS, DOUBTFUL, PHRASE_ACTIONS, WRITING, Action
from agent.router.words import Token, word_set

_CHANGES: Final = frozenset({Action.UPDATE, Action.DELETE})
# How far before a verb a word may stand that denies it.
REACH: Final = 3
_DENYING: Final = word_set("not never without cannot avoid dont cant wont didnt doesnt shouldnt")
# Nothing is deleted where its clause has one of these, however far before.
_FORBIDDING: Final = re.compile(
    r"\b(?:nobody|no one|none|nothing|never|not(?! need)|rather than|instead of|undo|undid|stop|avoid"
    r"|refrain|without)\b|n't\b(?! need)"
)
_CLAUSE_END: Final = re.compile(r"[,.;:!?\n]|\bbut\b")
_POLITE: Final = re.compile(
    r"\b(?:can|could|would|will) you\b|\b(?:please|pls|plz|kindly)\b", re.IGNORECASE
)
_WONDERING: Final = re.compile(
    r"^(?:how|why|who|whose|when|where|what|which|did|has|have|was|were)\b"
    r"|^(?:do|does|can|could|may|am) (?:i|we|he|she|they|it|anyone|someone|somebody)\b"
    r"|\bhow (?:do|can|to|would|could|should)\b|\b(?:should|shall) (?:i|we)\b|\bwhether\b"
)
# What stands behind these is to be kept in mind, not to be done.
_REMINDING: Final = re.compile(
    r"\b(?:remind (?:me|us)|(?:don't|dont|do not|not|never) (?:let (?:me|us) )?forget|remember"
    r"|\b(?:add|create|make|new)\b[^,.;:!?\d\n]{1,40}?) to\b[^.;!?\n]*"
)
_HEADING: Final = re.compile(r"[^\d:.;!?\n]{1,80}:")
_NOUNS: Final = word_set("tag tags label labels note mark view plan log state query details")
_LEADS_TO_NOUN: Final = word_set("with w by under of without has have having the its their any all")
_QUESTIONING: Final = word_set("what which who where how")
_LOWERING: Final = re.compile(r"drop\b(?: \S+){1,4} to (?:priority|prio|p?\d|low|the lowest)")
# That something is not so yet forbids nothing: "5 isn't finished, make it active".
_NOT_SO: Final = re.compile(
    r"(?:\b(?:is|are|was|were|has|have)(?: not|n't)|\bnever)(?: \w+){0,3} $", re.IGNORECASE
)
# With these behind it, "drop" is a verb of moving.
_MOVING: Final = word_set("by in off out into over around round below under me us")


@dataclass(frozen=True, slots=True)
class Orders:
    """The actions in the order they are said, each with whether a verb surely said it.

    `refused` are those that must not be done, whatever else speaks for them. `only_asks` says that the
    message is a question and orders no change at all.
    """

    actions: Mapping[Action, bool]
    refused: AbstractSet[Action]
    only_asks: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as far as orders go: `lowered` has no quotes, `points` says that it names a number."""

    spoken: Sequence[Token]
    lowered: str
    start: int
    asks: bool
    points: bool


def orders(heard: Heard) -> Orders:
    """What is to be done.

    A participle orders something only where the message points at one thing: "7 is finished" does,
    "the finished ones" does not. None orders a deletion.
    """
    spoken = list(_spoken(heard))
    ordered = {one.action for one in spoken if not one.denied and not one.states}
    denied = {
        one.action for one in spoken if one.denied and not (one.states and one.action in ordered)
    }
    placed = [one for one in spoken if not one.denied]
    denied &= WRITING
    found: dict[Action, bool] = {}
    for one in sorted(placed, key=lambda one: one.place):
        if one.action not in denied:
            found[one.action] = found.get(one.action, False) or one.sure
    # Whoever forbids one change wants no other that is not named.
    unwanted = WRITING - found.keys() if denied else frozenset()
    asked_about = _only_asked_about(heard)
    return Orders(found, unwanted | asked_about, Action.UPDATE in asked_about)


@dataclass(frozen=True, slots=True)
class _Spoken:
    place: int
    action: Action
    sure: bool
    denied: bool
    # A participle that only tells what is not so.
    states: bool = False


def _spoken(heard: Heard) -> Iterator[_Spoken]:
    """The verbs and phrases that could order something."""
    kept = _kept_in_mind(heard)
    for pattern, action in PHRASE_ACTIONS:
        match = re.search(pattern, heard.lowered)
        if match and not _is_content(match.start(), action, kept):
            # A phrase says more than the verb that begins it.
            denied = _denied(heard, match.start(), match.group())
            yield _Spoken(match.start() - 1, action, True, denied)
    for place, token in enumerate(heard.spoken):
        if token.stem not in ACTIONS or not _is_verb(heard, place):
            continue
        action = ACTIONS[token.stem]
        if not _is_content(token.start, action, kept):
            denied = _denied(heard, token.start, token.stem)
            states = denied and _tells_what_is_not_so(heard, token)
            yield _Spoken(token.start, action, token.lower not in DOUBTFUL, denied, states)


def _tells_what_is_not_so(heard: Heard, token: Token) -> bool:
    participle = token.lower.endswith("ed") or token.lower == "done"
    return participle and bool(
        _NOT_SO.search(heard.lowered[max(0, token.start - 40) : token.start])
    )


def _kept_in_mind(heard: Heard) -> list[tuple[int, int]]:
    """Where a message tells what a thing to be made says: `remind me to …`, `add a todo: …`."""
    spans = [match.span() for match in _REMINDING.finditer(heard.lowered)]
    heading = _HEADING.match(heard.lowered)
    changes = heading is not None and any(
        ACTIONS.get(one.stem) in _CHANGES for one in heard.spoken if one.end <= heading.end()
    )
    if heading is not None and not changes:
        spans.append((heading.end(), len(heard.lowered)))
    return spans


def _is_content(start: int, action: Action, kept: Sequence[tuple[int, int]]) -> bool:
    return action in _CHANGES and any(begin <= start < end for begin, end in kept)


def denied_words(heard: Heard, known: AbstractSet[str]) -> frozenset[str]:
    """The stems among the known ones that the message turns into their opposite."""
    return frozenset(
        token.stem
        for token in heard.spoken
        if token.stem in known and _denied(heard, token.start, token.stem)
    )


def _is_verb(heard: Heard, place: int) -> bool:
    token = heard.spoken[place]
    if _is_noun(heard, place):
        return False
    participle = token.lower.endswith("ed") or token.lower == "done"
    if ACTIONS[token.stem] is not Action.DELETE:
        return heard.points or not participle
    behind = [one.lower for one in heard.spoken[place + 1 : place + 2]]
    further = [one.lower for one in heard.spoken[place + 2 : place + 3]]
    lowers = behind in (["it"], ["that"]) and further == ["to"]
    lowers = lowers or bool(_LOWERING.match(heard.lowered, token.start))
    moves = token.lower == "drop" and (lowers or bool(_MOVING & set(behind)))
    # "todo 5: bin day" tells what 5 is.
    head, colon, _ = heard.lowered[: token.start].rpartition(":")
    return not participle and not moves and not (colon and re.search(r"\d\s*$", head))


def _is_noun(heard: Heard, place: int) -> bool:
    """Whether a word that may be a verb is none here: "with the tag farm", "remind me what is due"."""
    token = heard.spoken[place]
    before = [one.lower for one in heard.spoken[max(0, place - 1) : place]]
    behind = [one.lower for one in heard.spoken[place + 1 : place + 3]]
    if token.lower in ("remind", "reminder"):
        return behind[:1] in (["me"], ["us"]) and bool(_QUESTIONING & set(behind[1:]))
    return token.lower in _NOUNS and bool(_LEADS_TO_NOUN & set(before))


def _denied(heard: Heard, start: int, verb: str) -> bool:
    """Whether the words before a verb turn it into its opposite; "don't forget" does not."""
    place = bisect_left(heard.spoken, start, key=lambda token: token.start)
    if _deletes(verb) and _FORBIDDING.search(_CLAUSE_END.split(heard.lowered[:start])[-1]):
        return True
    near = heard.spoken[max(0, place - REACH) : place]
    if not near or "forget" in verb:
        return False
    clause = _CLAUSE_END.split(heard.lowered[near[0].start : start])[-1]
    words = [token.lower for token in near if token.start >= start - len(clause)]
    if "forget" in words:
        return False
    no_need = ("no", "need") in pairwise(words)
    return no_need or any(word in _DENYING or word.endswith("n't") for word in words)


def _deletes(verb: str) -> bool:
    return ACTIONS.get(verb) is Action.DELETE or (Action.DELETE, True) in (
        (action, bool(re.fullmatch(pattern, verb))) for pattern, action in PHRASE_ACTIONS
    )


def _only_asked_about(heard: Heard) -> AbstractSet[Action]:
    """The actions that a question speaks of; a request in the form of a question is none."""
    rest = heard.lowered[heard.start :].strip()
    wonders = bool(_WONDERING.search(rest))
    if not (heard.asks or wonders) or (_POLITE.search(heard.lowered) and not wonders):
        return frozenset()
    first = next((one for one in heard.spoken if one.start >= heard.start), None)
    leads = first is not None and ACTIONS.get(first.stem) in WRITING
    if leads and not wonders:
        # "add a todo: is the shop open?" is no question; "delete 5?" may be one.
        return frozenset({Action.DELETE}) if "?" in rest else frozenset()
    head, colon, _ = rest.partition(":")
    labelled = colon and "?" not in head and not _WONDERING.search(head)
    return WRITING - {Action.CREATE} if labelled else WRITING
