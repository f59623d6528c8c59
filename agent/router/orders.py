"""What a message wants done, and what it speaks of without wanting it.

A tool that changes something is called at once, so a verb alone is no order: it may be denied
("don't delete 5"), asked about ("is 5 done?"), or no verb at all ("drop by the shop").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agent.router.thesaurus import ACTIONS, DOUBTFUL, PHRASE_ACTIONS, WRITING, Action
from agent.router.words import Token, word_set

# How far before a verb a word may stand that denies it.
REACH: Final = 3
_DENYING: Final = word_set("not never without cannot avoid dont cant wont didnt doesnt shouldnt")
_CLAUSE_END: Final = re.compile(r"[,.;:!?\n]|\bbut\b")
_POLITE: Final = re.compile(
    r"\b(?:can|could|would|will) you\b|\b(?:please|pls|plz|kindly)\b", re.IGNORECASE
)
_WONDERING: Final = re.compile(
    r"^(?:how|why|who|whose|when|where|what|which|did|has|have|was|were)\b"
    r"|^(?:do|does|can|could|may|am) (?:i|we|he|she|they|it|anyone|someone|somebody)\b"
    r"|\bhow (?:do|can|to|would|could|should)\b|\b(?:should|shall) (?:i|we)\b|\bwhether\b"
)
# With these behind it, "drop" is a verb of moving.
_MOVING: Final = word_set("by in off out into over around round below under me us")


@dataclass(frozen=True, slots=True)
class Orders:
    """The actions in the order they are said, each with whether a verb surely said it.

    `refused` are those that must not be done, whatever else speaks for them.
    """

    actions: Mapping[Action, bool]
    refused: AbstractSet[Action]


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
    denied: set[Action] = set()
    placed: list[tuple[int, Action, bool]] = []
    for pattern, action in PHRASE_ACTIONS:
        match = re.search(pattern, heard.lowered)
        if match and _denied(heard, match.start(), match.group()):
            denied.add(action)
        elif match:
            # A phrase says more than the verb that begins it.
            placed.append((match.start() - 1, action, True))
    for place, token in enumerate(heard.spoken):
        if token.stem not in ACTIONS or not _is_verb(heard, place):
            continue
        if _denied(heard, token.start, token.stem):
            denied.add(ACTIONS[token.stem])
        else:
            placed.append((token.start, ACTIONS[token.stem], token.lower not in DOUBTFUL))
    denied &= WRITING
    found: dict[Action, bool] = {}
    for _, action, sure in sorted(placed, key=lambda one: one[0]):
        if action not in denied:
            found[action] = found.get(action, False) or sure
    # Whoever forbids one change wants no other that is not named.
    unwanted = WRITING - found.keys() if denied else frozenset()
    return Orders(found, unwanted | _only_asked_about(heard))


def _is_verb(heard: Heard, place: int) -> bool:
    token = heard.spoken[place]
    participle = token.lower.endswith("ed") or token.lower == "done"
    if ACTIONS[token.stem] is not Action.DELETE:
        return heard.points or not participle
    behind = [one.lower for one in heard.spoken[place + 1 : place + 2]]
    moves = token.lower == "drop" and bool(_MOVING & set(behind))
    # "todo 5: bin day" tells what 5 is.
    head, colon, _ = heard.lowered[: token.start].rpartition(":")
    return not participle and not moves and not (colon and re.search(r"\d\s*$", head))


def _denied(heard: Heard, start: int, verb: str) -> bool:
    """Whether the words before a verb turn it into its opposite; "don't forget" does not."""
    place = bisect_left(heard.spoken, start, key=lambda token: token.start)
    near = heard.spoken[max(0, place - REACH) : place]
    if not near or "forget" in verb:
        return False
    clause = _CLAUSE_END.split(heard.lowered[near[0].start : start])[-1]
    words = [token.lower for token in near if token.start >= start - len(clause)]
    if "forget" in words:
        return False
    no_need = ("no", "need") in pairwise(words)
    return no_need or any(word in _DENYING or word.endswith("n't") for word in words)


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
