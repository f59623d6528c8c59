"""What people say around the text of a thing to be made or sought, and is no part of it."""

from __future__ import annotations

import re
from typing import Final

_THING: Final = r"(?:todos?|to-dos?|tasks?|reminders?|items?|notes?|tickets?|issues?)"
_PLACE: Final = rf"(?:my|the|our) (?:\S+ ){{0,2}}(?:list|agenda|{_THING})"
# Behind the text: where it is to go, or what it is to be.
_AFTERWARDS: Final = re.compile(
    rf"\s*(?:[,;.]|\s[-–—])?\s*(?:and |so )?(?:that['’]?s|that is|this is|here['’]?s) (?:one more|another(?: one)?|something) (?:for|on|to) {_PLACE}.*$"
    rf"|\s(?:should|must|ought to|has to|needs to|wants to|have to|need to) (?:now )?(?:go|be|become|get)"
    rf" (?:(?:in|on|to|into|onto|down) )?(?:as )?(?:an? (?:\w+ )?{_THING}|{_PLACE})\b.*$"
    rf"|\s(?:as|into) (?:an?|another) (?:new )?{_THING}\b.*$"
    rf"|\s*[,;.]\s*(?:and |so )?(?:please )?(?:make|track|log|note|save|file|add|keep|put|turn)\b[^,;.]{{0,40}}\b{_THING}\b.*$",
    re.IGNORECASE | re.DOTALL,
)
# Before the text: that somebody has to do it.
_BEFOREHAND: Final = re.compile(
    r"^\W*(?:so |and |well |ok )*(?:(?:i|we)(?:['’]ve|['’]m| have| am|['’]ll)?(?: just| also| now)*"
    r" (?:agreed|promised|offered|volunteered|committed|asked|supposed|meant|planning|told|going)"
    r"(?: (?!(?:to|i|we|that)\b)\w+)?(?: that)? (?:(?:i|we)(?:['’]d| would)|to)\s+"
    r"|(?:gotta|got to|to)\s+)(?=\w)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r"^(?:nothing fancy|nothing special|please|thanks|just this|namely)\s*[:,-]\s*", re.IGNORECASE
)
_DAY_END: Final = re.compile(
    r"\s+(?:by|before|at|until|on)?\s*(?:the )?(?:end(?: of(?: the)?(?: day)?)?|eod|cob|close of business)$",
    re.IGNORECASE,
)
_SEARCH_AFTER: Final = re.compile(
    r"\s*(?:[,;.?]|\s[-–—]\s)\s*(?:(?:and|so|please|pls)\s+)*(?:can|could|would|will|please|find|where|look|show|search|get|which)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_SOMEWHERE: Final = re.compile(
    r"\s+(?:somewhere|anywhere|someplace|again|at all|for me)$", re.IGNORECASE
)


def without_aim(text: str) -> str:
    """A text without the words behind it that say what it is to be: `… should go on my list`."""
    return _AFTERWARDS.sub("", text)


def without_lead(text: str) -> str:
    """A text without the words before it that say that it has to be done."""
    return _DAY_END.sub("", _BEFOREHAND.sub("", _ASIDE.sub("", text)))


def only_sought(text: str) -> str:
    """What is sought, without the order to seek that follows it, and without vague places."""
    return _SOMEWHERE.sub("", _SEARCH_AFTER.sub("", text))
