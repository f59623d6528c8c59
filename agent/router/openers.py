"""How a message opens that tells of a thing to be made, without a verb that says so: "todo buy milk"."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from agent.router.thesaurus import ACTIONS, Action, meanings
from agent.router.words import STOP_WORDS, Token, stem, tokens, word_set

# What is longer is no heading.
LONGEST_HEAD: Final = 60
_COURTESY: Final = (
    r"^\W*(?:(?:ok|okay|so|oh|ah|hi|hey|hello|please|pls|right|and|also|quick)\b\W*)*"
)
# Kept in mind by whoever is asked to.
_KEPT: Final = re.compile(
    _COURTESY + r"(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:help me (?:to )?(?:rem\w{0,6}ber|not (?:to )?forget)|(?:don't|dont|do not|never) let (?:me|us) (?:forget|miss)"
    r"|(?:make|be) sure (?:that )?(?:i|we) (?:rem\w{0,6}ber|don't forget|do not forget|don't miss)"
    r"|keep in mind(?: for me)?|(?:i|we) (?:really |absolutely )?(?:mustn't|must not|can't|cannot|better not|shouldn't|dare not) (?:forget|miss)"
    r"|(?:i'd|i would) (?:only |just )?forget)\b(?: (?:to|about|that)\b)*\s*[:,–—-]?\s*"
)
# What the speaker has to do.
_OBLIGED: Final = re.compile(
    _COURTESY
    + r"(?:(?:i|we)(?:'ve|'ll|'d)?\s+)?(?:(?:really|still|also|just|absolutely|definitely|probably)\s+)*"
    r"(?:need to|must|have to|has to|should|ought to|got to|gotta|had better|better)\s+"
    r"(?:(?:really|also|just|finally|definitely)\s+)*(?=\w)"
)
_LIST_PLACE: Final = re.compile(
    r"\b(?:job|thing|item|one|entry|something|task|chore|errand|another|more|new|extra)\b"
    r"(?: more| else)? (?:for|on|onto|to) (?:my|the|our) (?:\w+ ){0,2}(?:list|todos?|to-dos?|tasks?)\b"
)
_PLACED: Final = re.compile(
    r"^\W*(?:for|onto|on) (?:my|the|our) (?:\w+ )?list\b|\b(?:put|jot|note|write|take) (?:\w+ )?down\W*$"
)
_MY_LIST: Final = re.compile(r"\b(?:my|the|our) (?:\w+ ){0,2}list\b")
_MARK: Final = re.compile(r"\s*(?::|\s[-–—]\s)\s*")
_BARE: Final = re.compile(_COURTESY + r"(?:an? |another |new |one more |my )*")
_JOBS: Final = word_set("job item entry")
# These follow the name of a thing that is there: "task list", "todo items tagged farm".
_NO_CONTENT: Final = word_set(
    "list lists item items entry entries number no id nr app board manager overview summary tagged "
    "due overdue open done finished completed archived active pending tools tool"
)
_GOING_ON: Final = re.compile(
    r"get (?:back|round|around|in touch|hold|going|started|on with|rid|ready)\b"
)
_NOT_TO_DO: Final = word_set("look know understand learn go be have ask say")


def opener_end(lowered: str, things: AbstractSet[str]) -> int:
    """Where what is to be made begins, behind words that say no more than that it is to be; 0 where none do.

    `things` are the meanings of what the thing is called.
    """
    kept = _KEPT.match(lowered)
    if kept and lowered[kept.end() :].strip(" .?!"):
        return kept.end()
    return _headed(lowered, things) or _named(lowered, things)


def obliged_end(lowered: str) -> int:
    """Where a message tells what its author has to do; 0 where it does not."""
    match = _OBLIGED.match(lowered)
    if match is None or not any(pronoun in match.group() for pronoun in ("need", "must", "have")):
        match = match if match and re.search(r"\b(?:i|we|gotta|got to)\b", match.group()) else None
    if match is None:
        return 0
    rest = lowered[match.end() :]
    first = next(iter(tokens(rest[:LONGEST_HEAD])), None)
    if first is None or first.lower in _NOT_TO_DO:
        return 0
    other = ACTIONS.get(first.stem) not in (None, Action.CREATE)
    return 0 if other and not _GOING_ON.match(rest) else match.end()


def _headed(lowered: str, things: AbstractSet[str]) -> int:
    """`a job for my list, priority 5: `, `new job - `"""
    mark = _MARK.search(lowered)
    if mark is None or mark.start() > LONGEST_HEAD or not lowered[mark.end() :].strip(" .?!"):
        return 0
    head = lowered[: mark.start()]
    words = [one for one in tokens(_MY_LIST.sub(" ", head)) if one.lower not in STOP_WORDS]
    orders = {ACTIONS[one.stem] for one in words if one.stem in ACTIONS}
    if "?" in head or not orders <= {Action.CREATE}:
        return 0
    if _LIST_PLACE.search(head) or _PLACED.search(head):
        return mark.end()
    plain = [one for one in words if ACTIONS.get(one.stem) is not Action.CREATE]
    named = [one for one in plain if _is_one(one, things)]
    return mark.end() if named and len(named) == len(plain) else 0


def _named(lowered: str, things: AbstractSet[str]) -> int:
    """`todo buy milk`, where no mark stands between the two"""
    start = _BARE.match(lowered)
    begin = start.end() if start else 0
    head = re.match(r"to do\b", lowered[begin:])
    words = tokens(lowered[begin : begin + LONGEST_HEAD])
    if head or len(words) < len(("todo", "buy", "milk")) or "?" in lowered:
        return 0
    thing, first, second = words[:3]
    if thing.lower.endswith("s") or not _is_one(thing, things) or thing.lower in _JOBS:
        return 0
    states = second.lower in ("is", "are", "was", "has", "should", "must", "needs", "can")
    if first.lower in STOP_WORDS | _NO_CONTENT or not first.lower.isalpha() or states:
        return 0
    between = lowered[begin + thing.end : begin + first.start]
    named = set(meanings(first.stem)) & things
    if between.strip() or named or ACTIONS.get(first.stem) not in (None, Action.CREATE):
        return 0
    return begin + first.start


def _is_one(word: Token, things: AbstractSet[str]) -> bool:
    """Whether a word is the thing; a job is something to do."""
    called = set(meanings(word.stem)) & things
    return bool(called) or (word.lower in _JOBS and stem("todo") in things)
