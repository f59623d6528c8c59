"""What was asked back, and what a reply to it means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.routing import Choice

_THANKS: Final = r"(?:please|pls|plz|thanks|thank you(?: (?:so|very) much)?)"
# How people take back what they were asked more about. "No. 3" is a number.
_DROPPING: Final = re.compile(
    r"\W*(?:no(?!\W*\d)|nope|nah|never ?mind|cancel|forget (?:it|that|about)|don['’]?t|do not|keep|wait|stop)\b",
    re.IGNORECASE,
)
_FILLER: Final = rf"(?:h+m+|oh|well|ok|okay|actually|sorry|oops|{_THANKS})"
_REFUSAL: Final = (
    r"(?:no|nope|nah|never ?mind|(?:cancel|stop|drop|leave)(?: it| that| this)?|forget (?:about )?(?:it|that)"
    r"|(?:don['’]?t|do not)(?: do (?:it|that|anything))?|keep (?:it|them|that)|wait|nothing|none|not now"
    r"|wrong (?:window|chat|tab|channel|person)|(?:just )?kidding)"
)
_DISMISSAL: Final = re.compile(
    rf"\W*(?:{_FILLER}[\s,.!…-]+)*{_REFUSAL}(?:[\s,.!…-]+(?:{_FILLER}|{_REFUSAL}))*[\s.!…]*",
    re.IGNORECASE,
)
# A text that begins so, or has this in it, may be said to the agent and be no text at all.
_HESITATING: Final = re.compile(
    r"\W*(?:yes|yeah|yep|ok|okay|sure|well|h+m+|oh|thanks|thank you|hi|hello|hey|sorry|what|why|how|who|when|where|which"
    r"|is|are|(?:do|does|did|can|could|should|would|will) (?:i|you|we|it|they|he|she))\b",
    re.IGNORECASE,
)
_DOUBTING: Final = re.compile(
    r"\b(?:actually|sorry|oops|never ?mind|forget (?:it|that)|wrong (?:window|chat|tab|channel)|kidding"
    r"|on second thou?ghts?|not now|i (?:don['’]?t|do not))\b",
    re.IGNORECASE,
)
_AGREEING: Final = (
    r"(?:yes|yeah|yep|yup|y|ok|okay|sure|go ahead|do(?: it| so| that)?|confirm|confirmed|correct|right"
    r"|of course|exactly|absolutely|definitely)"
)
_YES: Final = re.compile(
    rf"\s*(?:{_THANKS}[\s,.!]+)?{_AGREEING}(?:[\s,.!]+(?:{_AGREEING}|{_THANKS}|now|right away))*[\s.!]*",
    re.IGNORECASE,
)
_YES_AND: Final = re.compile(
    r"\s*(?:yes|yeah|yep|yup|ok|okay|sure)[\s,.!]+(?:please[\s,]+)?(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_THE_SAME: Final = re.compile(
    rf"(?P<verb>[a-z]+) (?:it|that|this)(?:[\s,]+(?:{_THANKS}|now|right away))*[\s.!]*",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"\s*(?:please[\s,]+)?(?:it['’]s |it is |the )?(?P<thing>[a-z]+ )?(?:(?:number|no\.?|nr\.?|id) )?#?(?P<number>\d{1,18})"
    rf"(?:[\s,]+{_THANKS})?[\s.!]*",
    re.IGNORECASE,
)
_ID_WORDS: Final = frozenset({"number", "no", "nr", "id", "key", "code"})


@dataclass(frozen=True, slots=True)
class Picked:
    """A choice that a reply made complete."""

    tool: str
    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    reason: str
    score: float
    any_of: tuple[str, ...]
    sure: bool
    reads: bool
    for_good: bool
    several: bool
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that was asked back about, what was picked for it, and when, in seconds."""

    message: str
    choice: Choice
    at: float

    @property
    def only_whether(self) -> bool:
        """Whether nothing was lacking but a yes."""
        return not self.choice.missing and not self.choice.any_of


def drops(reply: str) -> bool:
    """Whether a reply takes back what was asked about."""
    return bool(_DROPPING.match(reply))


def dismisses(reply: str) -> bool:
    """Whether a reply does nothing but take it back: "forget it", not "forget-me-nots for Ann"."""
    return bool(_DISMISSAL.fullmatch(reply))


def hesitates(reply: str) -> bool:
    """Whether a reply may be meant for the agent, and not as the text that it asked for."""
    return drops(reply) or bool(_HESITATING.match(reply) or _DOUBTING.search(reply))


def agrees(reply: str) -> bool:
    """Whether a reply is a plain yes, and nothing else."""
    return bool(_YES.fullmatch(reply))


def behind_yes(reply: str) -> str:
    """What a reply says behind its yes."""
    match = _YES_AND.fullmatch(reply)
    return match["rest"] if match else ""


def orders_it(rest: str, tool: str) -> bool:
    """Whether what follows a yes is the verb of the tool again: "delete it"."""
    match = _THE_SAME.fullmatch(rest)
    return match is not None and match["verb"].lower() in tool.lower().split("_")


def number_in(reply: str, tool: str, argument: str) -> int | None:
    """The number, where a reply is nothing but one, alone or with the name of the thing."""
    match = _NUMBER.fullmatch(reply)
    if match is None:
        return None
    thing = (match["thing"] or "").strip().lower()
    # What the number is of: the customer in `customer_id`, else what the tool is for.
    own = set(argument.lower().split("_")) - _ID_WORDS or set(tool.lower().split("_"))
    return int(match["number"]) if not thing or thing in own | _ID_WORDS else None


def field_in(reply: str, tool: str, names: Sequence[str]) -> str:
    """What a reply says of one of the fields, as `field: value`: "priority 2", "set the title to Milk".

    Empty where it says nothing of the kind, or may mean something else: "priority 2 todos", "title, never mind".
    """
    things = "|".join(map(re.escape, tool.split("_")))
    if "?" in reply or re.search(rf"\b(?:{things})s?\b", reply, re.IGNORECASE):
        return ""
    for name in names:
        whole = name.replace("_", " ")
        said = "|".join(map(re.escape, (whole, *whole.split())))
        match = re.fullmatch(
            rf"\W*(?:(?:set|change|make) )?(?:(?:the|its|a|new) )*(?:{said})(?:\s*[:=,]\s*|\s+)"
            r"(?:(?:to|is|should be) )?(?P<value>\S.{0,500})",
            reply,
            re.IGNORECASE | re.DOTALL,
        )
        if match and not hesitates(match["value"]):
            return f"{whole}: {match['value']}"
    return ""


def filled(choice: Choice, argument: Any, *, sure: bool) -> Picked:
    """The choice with what it lacked."""
    return _picked(
        choice, {**choice.arguments, choice.missing[0]: argument}, choice.any_of, sure=sure
    )


def agreed(choice: Choice) -> Picked:
    """The choice, after a yes."""
    return _picked(choice, choice.arguments, (), sure=True)


def doubted(choice: Choice) -> Picked:
    """The choice, to be asked about."""
    return _picked(choice, choice.arguments, choice.any_of, sure=False)


def _picked(
    choice: Choice, arguments: Mapping[str, Any], any_of: tuple[str, ...], *, sure: bool
) -> Picked:
    return Picked(
        choice.tool,
        arguments,
        (),
        choice.reason,
        choice.score,
        any_of,
        sure=sure,
        reads=choice.reads,
        for_good=choice.for_good,
        several=choice.several,
        left_out=choice.left_out,
    )
