"""Numbers that stand for a thing: "close 17", "tick off number 12", "number 7 is done"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.thesaurus import ACTIONS, VERBS, WRITING
from agent.router.words import STOP_WORDS, Token

# No number is farther from its verb.
_REACH: Final = 60
_VERB_FORMS: Final = "|".join(
    sorted(word for action, words in VERBS.items() if action in WRITING for word in words.split())
)
# A verb and its number may stand apart: "tick off number 12", "bin no. 6", "done with 14".
_POINTING: Final = re.compile(
    rf"\b(?:(?:(?:{_VERB_FORMS})(?:e?d)?|check|cross|strike)(?: off| with)?\s+(?:(?:number|no\.?|nr\.?|item)\s+)?"
    r"|(?:change|set|update|edit|modify) (?:the )?[a-z]{1,20} (?:of|for|on)\s+(?:(?:number|no\.?|nr\.?|item)\s+)?"
    r"|(?:done|finished|through) with\s+(?:(?:number|no\.?|nr\.?|item)\s+)?)$"
)
# So may a number that something is said of: "number 7 is done".
_STATED: Final = re.compile(r"^\W*(?:(?:and|ok|so)\W+)?(?:(?:number|no\.?|nr\.?|item)\s+)?$")
_STATE: Final = re.compile(
    r"\s*(?:is|are|['’]s) (?:now |all |already )?(?:done|finished|completed?)\b"
)


_LISTED: Final = re.compile(r"\s+(?:on|from|off|in) (?:my|the|our) (?:\S+ ){0,2}list\b")


def points(start: int, end: int, spoken: Sequence[Token], text: str) -> bool:
    """Whether the number from start to end stands for a thing: near its verb, and counting nothing."""
    before = [one for one in spoken if one.end <= start][-1:]
    after = [one for one in spoken if one.start >= end][:1]
    between = text[end : after[0].start].strip() if after else ""
    counts = bool(after) and not between and after[0].lower not in STOP_WORDS
    named = bool(after) and after[0].stem in ACTIONS
    said = text[max(0, start - _REACH) : start].lower()
    if start <= _REACH and _STATED.search(said):
        return bool(_STATE.match(text[end : end + _REACH].lower()))
    if _LISTED.match(text[end : end + _REACH].lower()):
        return True
    led = bool(before) and ACTIONS.get(before[0].stem) in WRITING
    return (led or bool(_POINTING.search(said))) and (named or not counts)
