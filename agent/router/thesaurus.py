"""General English: words that mean alike, and verbs by what they do to things.

Nothing here knows any tool. A word is replaced by the first of its group before it is compared, in
messages and in the texts of tools alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final

from agent.router.words import stem, word_set


class Action(StrEnum):
    """What a request does to things."""

    CREATE = "create"
    LIST = "list"
    SEARCH = "search"
    GET = "get"
    UPDATE = "update"
    DELETE = "delete"


READING: Final = frozenset({Action.LIST, Action.SEARCH, Action.GET})
WRITING: Final = frozenset({Action.CREATE, Action.UPDATE, Action.DELETE})

_VERBS: Final[Mapping[Action, str]] = {
    Action.CREATE: "create add make new remember remind note insert register schedule forget put "
    "append start draft log jot plan",
    Action.LIST: "list show display view see enumerate browse overview print",
    Action.SEARCH: "search find locate seek lookup mention contain query",
    Action.GET: "get fetch give gimme read retrieve check details tell describe inspect",
    Action.UPDATE: "update change set edit modify rename retitle move push postpone reschedule mark "
    "complete finish done tick close archive reopen raise lower increase decrease tag label assign "
    "adjust bump defer delay alter replace correct shift",
    Action.DELETE: "delete remove erase drop discard trash purge destroy scrap bin wipe rm del",
}
ACTIONS: Final[Mapping[str, Action]] = {
    stem(word): action for action, words in _VERBS.items() for word in words.split()
}
# The plain infinitives, against which misspelt ones are held; none that deletes.
GUESSED: Final = frozenset(
    word
    for action, words in _VERBS.items()
    if action is not Action.DELETE
    for word in words.split()
)
# These are nouns or adjectives as often.
DOUBTFUL: Final = word_set(
    "complete close set mark label note log plan start correct delay bin new tag open details "
    "check read view query mention state finish drop"
)

_GROUPS: Final = (
    "todo to-do task reminder chore remind",
    "animal sheep ram ewe lamb livestock",
    "progeny offspring children child descendant lamb kids",
    "lineage pedigree ancestor ancestry parent genealogy sire dam",
    "male ram rams man men boy",
    "female ewe ewes woman women girl",
    "gender sex",
    "completed complete done finished finish ticked closed resolved",
    "archived archive shelved",
    "active open reopen reopened pending unfinished",
    "tag tagged label labelled labeled category",
    "priority prio urgency importance",
    "title name called titled named rename retitle",
    "description note notes text body details",
    "due deadline by",
    "document doc docs file corpus collection passage text",
    "collection corpus library archive",
    "question ask",
    "costly expensive afford critical risky",
    "wrong mistake incorrect error false",
    "connect link relate relationship related connection relation tie between",
    "several multiple various across multi",
    "broad overview global general wide",
    "whole entire overall everything all-in-all complete full",
    "theme topic subject motif",
    "precise exact exactly precisely verbatim literal",
    "confidence confident certainty sure certain",
    "corrective correct correction verify double-check doublecheck validate judge",
    "health healthy alive up working running status",
    "metric statistic statistics stats figure count usage",
    "fail failed failure failing error broken",
    "date day when",
    "updated update refresh refreshed fresh stale recent latest up-to-date current",
    "breed race",
    "available exist existing possible",
    "detail details detailed info information",
    "profile dossier record everything",
    "range minimum maximum min max low high limit lowest highest",
    "data database",
    "summary summarise summarize summaries recap",
    "citation cite reference footnote",
    "source origin provenance",
    "owner own owns belong",
    "customer client buyer",
    "invoice bill",
    "order purchase",
    "message mail email e-mail",
    "user person people member",
    "issue ticket bug",
    "meeting appointment event",
    "picture image photo",
    "money amount price cost",
    "place location city town",
    "forecast weather",
    "result hit match",
    "page pages",
    "reverse descending desc reversed backwards",
    "sort sorted order ordered rank ranked",
    "keyword word term",
)
_BY_STEM: Final[dict[str, tuple[str, ...]]] = {}
for _group in _GROUPS:
    _words = _group.split()
    for _word in _words:
        _meanings = (*_BY_STEM.get(stem(_word), ()), stem(_words[0]))
        _BY_STEM[stem(_word)] = tuple(dict.fromkeys(_meanings))

# What several words mean together.
PHRASES: Final[tuple[tuple[str, str], ...]] = (
    (r"\bto[- ]dos?\b", "todo"),
    (r"\b(?:have|need|got|ought) to\b", "todo"),
    (r"\bmy list\b|\bthe list\b", "todo"),
    (r"\b(?:don't|dont|not|never) (?:let (?:me|us) )?forget\b", "todo"),
    (r"\bon (?:my|our) (?:plate|agenda)\b", "todo"),
    (r"\bfamily tree\b|\bblood ?line\b", "lineage"),
    (r"\bcan(?:'t|not) afford\b", "costly"),
    (r"\bdouble[- ]check\b", "corrective"),
    (r"\bup to date\b", "updated"),
    (r"\bin one (?:go|call|place)\b|\bat once\b|\ball information\b", "whole"),
    (r"\bhow (?:low|high|big|small|large)\b", "range"),
)
PHRASE_ACTIONS: Final[tuple[tuple[str, Action], ...]] = (
    (r"\bget rid of\b|\bthrow (?:away|out)\b", Action.DELETE),
    (r"\blook(?:ing)? (?:for|up|through)\b|\bis there\b|\bare there any\b", Action.SEARCH),
    (r"\bdo i have (?:a|an|any)\b|\bwith the word\b", Action.SEARCH),
    (
        r"\bremind me\b|\b(?:don't|dont|not|never) (?:let (?:me|us) )?forget\b|\bput\b.{1,200}\bon (?:my|the)\b",
        Action.CREATE,
    ),
    (r"\btick(?:ed)? off\b|\bcross(?:ed)? off\b|\bi(?:'m| am) done\b", Action.UPDATE),
)


@lru_cache(maxsize=8192)
def alternatives(word_stem: str) -> frozenset[str]:
    """The words that may be said in place of one."""
    return frozenset(
        word for group in _GROUPS if stem(group.split()[0]) == word_stem for word in group.split()
    )


def phrase_meanings(lowered: str) -> frozenset[str]:
    """What the phrases of a text mean."""
    return frozenset(stem(word) for pattern, word in PHRASES if re.search(pattern, lowered))


def meanings(word_stem: str) -> tuple[str, ...]:
    """What a stem is compared as: itself and the first of each group it is in."""
    return tuple(dict.fromkeys((word_stem, *_BY_STEM.get(word_stem, ()))))
