"""How a message asks: for an answer in words, from documents, how a thing is done, or for nothing."""

from __future__ import annotations

import re
from typing import Final

from agent.router.thesaurus import ACTIONS, READING, meanings
from agent.router.words import stem, tokens, word_set

_ASKING: Final = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|whats|what's|who's|is|are|was|were|does|did)\b",
    re.IGNORECASE,
)
TELLING: Final = re.compile(
    r"\b(?:tell (?:me|us)|explain|describe|summari[sz]e|answer|overview|find out|question|big picture"
    r"|(?:like|want|love|need) to know|wondering|curious|quote|connect the dots|piec(?:e|ing) together"
    r"|trac(?:e|ing) (?:the|how)|word[- ]for[- ]word|bird's[- ]eye|late[- ]interaction|trends"
    r"|(?:exact|precise|literal|verbatim) (?:wording|text|phrasing|words|terms?)|(?:exact|precise|literal|verbatim) \w+ (?:of|in|for|from)|search (?:over|across|through|of)"
    r"|match(?:ing)? (?:every|each|all)|walk (?:the|through the) \w+ ?graph)\b",
    re.IGNORECASE,
)
# What no store of documents and no catalogue knows: how the world is at this moment.
LIVE: Final = re.compile(
    r"\b(?:traffic|stock price|exchange rate|what time is it|the time now|breaking news)\b"
    r"|\bwhat(?:'s| is) the time\b(?! \w)|\bhow (?:hot|cold|warm) is it\b|\b(?:rain|snow)(?:ing)? (?:today|tonight|tomorrow|now|later|this|on)\b"
    r"|^\W*weather\b|\bthe weather\b|\bweather (?:forecast|report|like|today|tomorrow|in|for|this|right|next)\b"
    r"|\btemperature (?:outside|today|tomorrow|now|right now)\b|\b(?:current|the) temperature (?:in|at)\b"
    r"|\b\d+\s*(?:[*+/x×]|times|plus|minus|divided by|percent of|% of)\s*\d",
    re.IGNORECASE,
)
# Nor does any hold what is yet to be made up.
INVENTING: Final = re.compile(
    r"(?:(?:can|could|would|will) you |please |i want you to )*"
    r"(?:tell|write|compose|sing|make up|give|invent|recite|draw|(?:do you |you )?(?:know|got|heard))\b(?:\s+\w+){0,3}?"
    r"\s+(joke|poem|song|riddle|limerick|haiku|story|rhyme|pun|funny)s?\b"
)
DOCUMENTS: Final = re.compile(
    r"\b(?:in|from|through|according to|going by|based on|over|across|per|ask|asking|search|query|check|consult|do|does|of what)\s+"
    r"(?:(?:in|the|our|my|your|these|those|all|of|company|internal|uploaded|staff|employee)\s+){0,3}"
    r"(?:docs?|documents?|documentation|knowledge ?base|handbook|manuals?|wiki)\b"
    r"|\b(?:according to|going by) (?:(?:the|our|my|this|that) )?(?:[\w']{1,30} ){0,2}[\w']{1,30}"
    # What else is written down is named with its owner.
    r"|\b(?:in|from|through|according to|going by|based on|over|across|per|as per|under|search|check|consult|do|does|what)\s+"
    r"(?:(?:all|of|in)\s+){0,2}(?:our|my|your|company|the company's)\s+(?:\w+\s+){0,3}"
    r"(?:guidelines?|polic(?:y|ies)|plans?|files|reports?|records|rules|guides?|papers|notes|archives?|contracts?|agreements?"
    r"|terms|procedures?|sops?|specs?|specifications?|minutes|library|faqs?)\b"
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)+\b")
HOW: Final = re.compile(
    r"\bhow (?:(?:do|can|would|could|should|does) (?:i|we|you|one|someone|people)|to)\b"
)
DISMISSING: Final = re.compile(
    r"\b(?:no need to do|(?:don't|dont|do not) do) anything\b|\bnothing (?:else )?to do here\b"
    r"|\b(?:never ?mind|forget it)\s*[.!]*\s*$"
    # Small talk is no question for anything.
    r"|^\W*(?:(?:hi|hey|hello|so)\W+)?(?:how (?:are|r) (?:you|u|things)|how's it going|who are you|what's up)"
    r"(?: doing| today| going| then)*\W*$"
)
_SOUGHT: Final = re.compile(
    r"\b(?:which|what)\s+(?:[\w-]+\s+){0,3}?([\w-]+)\s+(?:are|is|exist|do|does|can|could)\b"
)
_KINDS: Final = re.compile(r"\b(?:kinds?|types?|sorts?|varieties) of (?:sheep|animals?)\b")
# Behind a comma these mostly tell more of what was said: "…, which is a shame".
_RELATIVE: Final = re.compile(r"(?:which|who|whom|whose|where|when|is|are|was|were)\b")
# An order in the form of a question; only some verbs make it ask for an answer in words.
_REQUEST: Final = re.compile(
    r"^(?:can|could|would|will) you (?:(?:please|kindly|maybe|to|just|also|quickly)\s+)*(\w+)"
)
_WORDED: Final = word_set(
    "explain summarise summarize answer compare clarify say help name outline analyse analyze discuss "
    "elaborate quote work figure define confirm verify remember know look list state share provide walk"
)
_QUESTION_WORD: Final = re.compile(r"\b(?:what|which|who|whose|when|where|why|how|whether|if)\b")


def asks(rest: str) -> bool:
    """Whether a message, without its greeting, asks for an answer in words."""
    request = _REQUEST.match(rest)
    if request and not _QUESTION_WORD.search(rest):
        return ACTIONS.get(stem(request[1])) in READING or request[1] in _WORDED
    if "?" in rest:
        return True
    parts = re.split(r"([:,.!;])\s", f". {rest[:1000]}")
    return any(
        _ASKING.match(part.strip()) and not (mark == "," and _RELATIVE.match(part.strip()))
        for mark, part in zip(parts[1::2], parts[2::2], strict=True)
    )


def sought(lowered: str) -> frozenset[str]:
    """What a question is after."""
    match = _SOUGHT.search(_KINDS.sub("breeds", lowered))
    return frozenset(meanings(stem(match[1]))) if match else frozenset()


def names(text: str) -> list[tuple[int, int]]:
    """Where names of several words stand; in them a word means nothing but itself."""
    if not any(token.text.islower() for token in tokens(text)):
        return []
    return [match.span() for match in _NAME.finditer(text)]
