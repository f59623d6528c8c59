"""Days: each goes to the parameter whose side of it the message speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.parameters import Parameter, Type
from agent.router.said_values import Kind, Value
from agent.router.thesaurus import meanings
from agent.router.words import stem

_BEFORE: Final = frozenset(
    {"before", "until", "till", "earlier", "older", "by", "to", "end", "max"}
)
_AFTER: Final = frozenset(
    {"after", "since", "from", "later", "newer", "start", "begin", "between", "min"}
)
_SIDE_NAMES: Final = {
    **{stem(word): "before" for word in ("before", "until", "to", "end", "max", "latest")},
    **{stem(word): "after" for word in ("after", "since", "from", "start", "min", "earliest")},
}
# By how many days the end of an open span lies outside of it.
_ENDS: Final = {"after": -1, "before": 1}
_INCLUSIVE: Final = frozenset(
    stem(word)
    for word in ("until", "to", "end", "max", "latest", "since", "from", "start", "min", "earliest")
)
_WITH_THE_DAY: Final = re.compile(
    r"\bor (?:later|earlier|after|before)\b|\binclusive", re.IGNORECASE
)
_LEADING: Final = frozenset(
    {
        "on",
        "by",
        "due",
        "for",
        "until",
        "before",
        "after",
        "since",
        "from",
        "at",
        "is",
        "it",
        "to",
        "between",
        "and",
        "the",
    }
)


def take_days(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Give days to the date parameters."""
    dated = [one for one in wanted if one.type is Type.DATE]
    _take_span(taken, dated)
    for value in taken.free(Kind.DAY):
        side = _side(taken, value)
        fitting = [one for one in dated if one.name not in taken.arguments]
        ranked = sorted(fitting, key=lambda one: (-_fit(taken, one, side), one.name))
        if not ranked or _fit(taken, ranked[0], side) < 1:
            continue
        taken.take(ranked[0].name, value.text, value)
        _cue(taken, value, ranked[0])
        for again in [one for one in taken.free(Kind.DAY) if one.text == value.text]:
            # The same day once more is no part of a text.
            taken.used.append(again)
            _cue(taken, again, ranked[0])


def _take_span(taken: Taken, dated: Sequence[Parameter]) -> None:
    """Give the ends of a span of days to the two parameters that limit days, where there are such."""
    sided = {_own_side(one): one for one in dated if _own_side(one)}
    if len(dated) != len(sided) or len(sided) != len(_ENDS) or len(taken.message.spans) != 1:
        return
    span = taken.message.spans[0]
    for side, day in (("after", span.first), ("before", span.last)):
        if day is not None and date.min < day < date.max:
            # Before a day is without that day, until it is with it.
            with_it = set(sided[side].words) & _INCLUSIVE or _WITH_THE_DAY.search(
                sided[side].description
            )
            outside = 0 if with_it else _ENDS[side]
            taken.take(sided[side].name, (day + timedelta(days=outside)).isoformat())
            taken.cue(sided[side].name, span.start, span.end)
    inside = [
        one for one in taken.free(Kind.DAY, Kind.NUMBER) if span.start <= one.start < span.end
    ]
    taken.used.extend(inside)


def _own_side(one: Parameter) -> str:
    return next((_SIDE_NAMES[word] for word in one.words if word in _SIDE_NAMES), "")


def _side(taken: Taken, value: Value) -> str:
    """Which side of the day is meant; empty: the day itself."""
    near = taken.message.before(value.start, 3)
    words = [token.lower for token in near if token.lower != "the"][:2]
    if words and words[0] == "and" and _within_between(taken, value):
        return "before"
    for word in words[:1] or []:
        if word in _BEFORE - {"by", "to", "end", "max"}:
            return "before"
        if word in _AFTER:
            return "after"
    following = [token.lower for token in taken.message.after(value.end, 2)]
    if "or" in following[:1] and len(following) > 1:
        return "before" if following[1] in _BEFORE else "after" if following[1] in _AFTER else ""
    return ""


def _within_between(taken: Taken, value: Value) -> bool:
    return any(token.lower in ("between", "from") for token in taken.message.before(value.start, 8))


def _fit(taken: Taken, one: Parameter, side: str) -> float:
    own = _own_side(one)
    if own != side:
        # A tool without a side takes the day itself: due by Friday is due on Friday.
        return 0.5 if own else 1.0
    return 2.0 + len(one.meanings & taken.message.meanings)


def _cue(taken: Taken, value: Value, one: Parameter) -> None:
    start = value.start
    for token in taken.message.before(value.start, 3):
        if token.lower not in _LEADING and not set(meanings(token.stem)) & one.meanings:
            break
        start = token.start
    taken.cue(one.name, start, value.start)
