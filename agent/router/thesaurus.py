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

from agent.router.phrases import PHRASES
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

VERBS: Final[Mapping[Action, str]] = {
    Action.CREATE: "create add make new remember remind note insert register schedule forget put "
    "append start draft log jot plan",
    Action.LIST: "list show display view see enumerate browse overview print",
    Action.SEARCH: "search find locate seek hunt dig lookup mention contain query",
    Action.GET: "get fetch give gimme read retrieve check details tell describe inspect",
    Action.UPDATE: "update change set edit modify rename retitle move push postpone reschedule mark "
    "complete finish done tick close archive reopen raise lower retag relabel increase decrease tag label assign "
    "adjust bump defer reword swap switch extend shelve delay alter replace correct shift",
    Action.DELETE: "delete remove erase drop discard trash purge destroy scrap bin wipe rm del scratch ditch nix",
}
ACTIONS: Final[Mapping[str, Action]] = {
    stem(word): action for action, words in VERBS.items() for word in words.split()
}
# Nothing is deleted on these without asking.
SLANG: Final = word_set("scratch ditch nix")
# The plain infinitives, against which misspelt ones are held; none that deletes.
GUESSED: Final = frozenset(
    word for action, words in VERBS.items() if action is not Action.DELETE for word in words.split()
)
# These are nouns or adjectives as often.
DOUBTFUL: Final = word_set(
    "complete close set mark label note log plan start correct delay bin new tag open details "
    "check read view query mention state finish drop"
)

_GROUPS: Final = (
    "todo to-do task reminder chore remind",
    "animal sheep ram ewe lamb livestock tup gimmer hogget wether",
    "progeny offspring children child descendant lamb kids",
    "lineage pedigree ancestor ancestry parent genealogy sire dam grandparent "
    "grandsire granddam grandmother grandfather forebear",
    "male ram rams man men boy tup tups",
    "female ewe ewes woman women girl gimmer",
    "gender sex sexes",
    "registration register registered",
    "completed complete done finished finish ticked closed resolved",
    "archived archive shelved",
    "active open reopen reopened pending unfinished outstanding unarchive un-archive",
    "tag tagged retag relabel label labelled labeled category",
    "priority prio urgency importance",
    "title name called titled named rename retitle",
    "description note notes text body details",
    "due deadline by overdue",
    "document doc docs file corpus collection passage text",
    "collection corpus library archive",
    "question ask",
    "costly expensive afford critical risky risk",
    "wrong mistake incorrect error false",
    "connect link relate relationship related connection relation tie between join joined combine combined",
    "several multiple various multi",
    "broad overview global wide",
    "whole entire overall everything all-in-all complete full",
    "theme topic subject motif trend",
    "precise exact exactly precisely verbatim literal",
    "confidence confident certainty sure certain",
    "corrective correct correction verify double-check doublecheck validate judge",
    "health healthy alive up status",
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
    "rerank reranker re-rank reorder reordered cross-encoder",
    "status state states",
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

# Putting a thing on a list, as people say it: "pop eggs on my list".
PUTTING: Final = (
    r"\b(?:stick|pop|chuck|bung|throw|get|need|want)\b(?= (?!me\b|rid\b)).{1,200}"
    r"\bon(?:to)? (?:my|the|our) (?:\S+ ){0,2}(?:list|todos?|to-dos?|agenda)\b"
)
# What one has to do is to be noted, unless it is something that is asked for here.
NEEDING: Final = (
    r"^(?:\W*(?:hi|hey|hello|ok|so|ah|oh)\b)?\W*(?:(?:i|we)(?:'ve| have|'ll| really| also| still)* )?"
    r"(?:got to|gotta|have to|need to|must|should)\s+(?!(?:"
    + "|".join(
        sorted(
            {
                word
                for action, words in VERBS.items()
                if action is not Action.CREATE
                for word in words.split()
            }
            | {"look", "know", "understand", "learn", "go", "be", "have", "ask", "say"}
        )
    )
    + r")\b)"
)
_THING: Final = r"(?:todo|to-do|task|reminder)"
_LISTED: Final = rf"(?:my|the|our) (?:\S+ ){{0,2}}(?:list|agenda|{_THING}s?)"
# Orders that are said around the thing, and not by a verb that begins them.
SAID_ALOUD: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.CREATE: (
        # "I want a reminder in two weeks", "a reminder for Friday: …"
        rf"\b(?:want|need|like|have|give me|get me|due) (?:to have )?(?:an?|another|one more) (?:\w+ ){{0,2}}{_THING}\b"
        r"(?! (?:\S+ ){0,3}(?:deleted|removed|gone|erased)\b)",
        rf"^\W*(?:(?:please|can you|could you) )?(?:open|start|raise|begin) (?:me )?an? (?:new )?{_THING}\b",
        r"^\W*(?:an? )?(?:\w+ )?reminder (?:for|to|on|about|that|tomorrow)\b",
        # "track that as a todo", "make this a task"
        rf"\b(?:track|log|save|file|keep|pencil|put|turn|make|record|have|add|enter|get|store|treat|capture|register|schedule)"
        rf"\b.{{1,160}}\b(?:as|into) (?:an?|another) (?:\w+ )?{_THING}\b",
        rf"\bmake (?:that|it|this) (?:an?|another) (?:\w+ )?{_THING}\b",
        rf"\b(?:wants?|needs?|ought|has|have) to (?:be|become|go (?:down )?as) (?:an?|another) (?:\w+ )?{_THING}\b",
        rf"\b(?:should|must|ought to|has to|needs to) (?:go|be) (?:on|in|into|onto|to) {_LISTED}\b",
        rf"\b(?:one more|another(?: one)?|something) (?:for|on|to) {_LISTED}\b",
        rf"\b(?:put|get|enter|write|type|slot)\b.{{1,160}}\b(?:in|into|onto|to|on) {_LISTED}\b",
        r"\bping me\b|\bnudge me\b|^\W*(?:todo|to-do|task) (?:for|on) [^:?]{1,40}:|^\W*new (?:entry|item|one):",
        r"\b(?:keep track|take (?:a )?note) of (?:that|this|it)\b",
    ),
    Action.UPDATE: (
        # "23 should read …", "make it active again", "for 5: new due date tomorrow"
        r"\d(?:'s)?(?: \w+)? (?:should|must|ought to|shall|needs? to|has to|is to) (?:now )?(?:read|say|be (?:called|named|titled))\b",
        r"\b(?:put|file)\b(?: \S+){1,4} (?:away|(?:in|into|to) (?:the |my )?archives?)\b",
        r"\b(?:make|set|turn|put|switch|flip) (?:it|that|this|them|one)(?: back)?(?: to| as)? "
        r"(?:active|open|urgent|done|completed?|archived|priority|top|high|low|due)\b",
        r"\bmake (?:\w+ )?#?\d+ (?:(?:the )?most|more|less|an?)\b",
        r"\bnew (?:title|name|description|due|deadline|date|priority|status|tags?|labels?)\b(?=.*\d)|"
        r"\d.{0,12}\bnew (?:title|name|description|due|deadline|date|priority|status|tags?|labels?)\b",
        r"^\W*(?:the )?\w+(?: \w+)? (?:of|for|on) (?:\w+ )?#?\d+ (?:should|must|ought to|has to|needs to|is) (?:now )?(?:be|to be|say|read)?",
        r"\bun-?(?:complete|finish|archive|tick|mark|do)\b",
        r"\b(?:description|details?|notes?|comment) (?:to|on|for|of) (?:the )?(?:\w+ )?#?\d+ ?:",
        r"\bdrop\b(?: \S+){1,3} (?:down )?to (?:priority|prio|p?\d|low|the lowest)",
    ),
    Action.DELETE: (
        r"\b(?:like|want|have|need|get) (?:\S+ ){1,4}(?:deleted|removed|erased|binned|scrapped|gone|wiped)\b",
        r"\b(?:should|must|can|needs to|has to|may|ought to) (?:now |just )?(?:be (?:deleted|removed|erased|binned|scrapped)|go(?=\W*$))",
        r"\bget\b(?: \S+){1,4} off (?:my|the|our) (?:\w+ )?list\b",
    ),
    Action.SEARCH: (
        r"\b(?:i'm|i am|we're|we are) (?:after|shopping|looking to|in the market)\b|^\W*(?:shopping|looking) (?:for|to buy)\b",
        r"\bwhere (?:is|are|was|did)\b|\bwhere's\b",
    ),
}
PHRASE_ACTIONS: Final[tuple[tuple[str, Action], ...]] = (
    (r"\bget rid of\b|\bthrow (?:away|out)\b", Action.DELETE),
    (r"\b(?:take|kick|knock|boot) (?:\S+ ){1,4}off (?:my|the|our) (?:\w+ )?list\b", Action.DELETE),
    (r"\blook(?:ing)? (?:for|up|through)\b|\bis there\b|\bare there any\b", Action.SEARCH),
    (
        r"\bdo i have (?:an?|any(?! (?:\w+ )?(?:todos?|to-dos?|tasks?|reminders?)\W*$)|(?:some|any)thing (?:about|on|for|with|regarding))\b|\bwith the word\b",
        Action.SEARCH,
    ),
    (
        r"\bremind me\b(?! (?:of )?(?:what|which|who|where|when (?:is|are|was)|how)\b)|\b(?:don't|dont|not|never|mustn't|can't|cannot) (?:let (?:me|us) )?forget\b|\bput\b.{1,200}\bon (?:my|the)\b",
        Action.CREATE,
    ),
    (
        r"\bmake (?:\w{1,20} )?(?:number |no\.? )?#?\d{1,6} (?:the |a )?(?:urgent|highest|lowest|high|low|top|priority|due|done|active)\b",
        Action.UPDATE,
    ),
    (
        r"^\W*(?:(?:and|ok|one more)\W+)?(?:another|new|next) (?:todo|to-do|task|reminder)\b",
        Action.CREATE,
    ),
    (PUTTING, Action.CREATE),
    (NEEDING, Action.CREATE),
    (r"\bset (?:me )?(?:up )?an? (?:new )?(?:todo|to-do|task|reminder)\b", Action.CREATE),
    (
        r"\b(?:a|an|another) (?:new )?(?:todo|to-do|task|reminder) (?:to|called|named)\b",
        Action.CREATE,
    ),
    *((pattern, action) for action, patterns in SAID_ALOUD.items() for pattern in patterns),
    (r"\bi(?:'m| am) done\b", Action.UPDATE),
    (r"\b(?:tick|check|cross|strike)(?:ed)?(?: \S+){0,4} off\b", Action.UPDATE),
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
