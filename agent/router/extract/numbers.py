"""Numbers and codes: each goes to the parameter that the words around it speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.message import Message
from agent.router.parameters import Parameter, Type, is_short_scale
from agent.router.profile import Profile
from agent.router.said_values import Kind, Value
from agent.router.thesaurus import Action, meanings
from agent.router.words import Token, stem

LEAST: Final = 1.5
# Words that may stand between a name and its number.
_JOINING: Final = frozenset(
    {
        "number",
        "no",
        "id",
        "#",
        "of",
        "is",
        "to",
        "at",
        "as",
        "the",
        "with",
        "be",
        "nr",
        "code",
        "by",
        "say",
    }
)
_GENERIC: Final = frozenset(
    {"id", "number", "code", "size", "top", "max", "min", "k", "n", "limit"}
)
_UNITS: Final = {"m": stem("minutes"), "h": stem("hours"), "d": stem("days")}
_WORD_EXTREMES: Final = (("highest", "maximum"), ("lowest", "minimum"), ("top", "maximum"))

_PER_PAGE: Final = re.compile(
    r"\s*(?:\w+ )?(?:(?:to|on|per) (?:a|each|one) page|(?:per|a|each) page|at a time|per go)\b"
)
_STEPS: Final = (("high", "maximum"), ("low", "minimum"))


def take_numbers(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Give numbers and codes to the parameters they fit best, the surest pair first."""
    pairs = [
        (_affinity(taken.message, value, one, profile), value, one)
        for one in wanted
        if _numeric(one) or _takes_code(one)
        for value in taken.free(Kind.NUMBER, Kind.CODE, Kind.SPAN)
        if _fits(value, one)
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1].start, pair[2].name))
    for affinity, value, one in pairs:
        if affinity < LEAST or one.name in taken.arguments or value in taken.used:
            continue
        taken.take(one.name, _converted(value, one), value)
        _cue(taken, value, one)
    _take_extremes(taken, wanted, changes=profile.action is Action.UPDATE)
    _take_initialled(taken, wanted)


def _take_initialled(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """`P4` is 4 on a short scale whose name begins so."""
    for one in wanted:
        if not one.name or not is_short_scale(one) or one.name in taken.arguments:
            continue
        match = re.search(rf"\b{re.escape(one.name[0])}(\d)\b", taken.message.text, re.IGNORECASE)
        if match and one.allows(int(match[1])):
            taken.take(one.name, int(match[1]))
            taken.cue(one.name, match.start(), match.end())


def _numeric(one: Parameter) -> bool:
    return one.type in (Type.INTEGER, Type.NUMBER)


def _takes_code(one: Parameter) -> bool:
    return one.type is Type.TEXT and one.is_id


def _fits(value: Value, one: Parameter) -> bool:
    if value.kind is Kind.SPAN:
        return _counts(value, one) and one.allows(float(value.text[:-1]))
    if not _numeric(one):
        return one.allows(value.text)
    if value.kind is not Kind.NUMBER or (one.type is Type.INTEGER and "." in value.text):
        return False
    return one.allows(float(value.text))


def _counts(value: Value, one: Parameter) -> bool:
    """Whether a parameter counts what a span of time is measured in: `5 days` for `days`."""
    return _numeric(one) and _UNITS[value.text[-1]] in one.words


def _converted(value: Value, one: Parameter) -> int | float | str:
    if value.kind is Kind.SPAN:
        return int(value.text[:-1])
    if not _numeric(one):
        return value.text
    return float(value.text) if "." in value.text else int(value.text)


def _affinity(message: Message, value: Value, one: Parameter, profile: Profile) -> float:
    """How much the words around a value speak of a parameter."""
    if value.kind is Kind.SPAN:
        return 2.0
    named = one.meanings - _GENERIC
    if _PER_PAGE.match(message.lowered, value.end):
        return 4.0 if {"page", "size"} <= set(one.words) else 0.0
    before = message.before(value.start, 5)
    after = message.after(value.end, 3)
    score = _named_before(before, named, one)
    score += _named_after(after, one)
    if before and before[0].lower == "to" and _mentioned(message, named, value.start):
        score += 2.0
    if value.ordinal and after and set(meanings(after[0].stem)) & one.meanings:
        score += 3.0
    if one.is_id:
        score += _pointing(message, value, before, one, profile)
    elif value.marked:
        score -= 2.0
    return score


def _named_before(before: Sequence[Token], named: frozenset[str], one: Parameter) -> float:
    for distance, token in enumerate(before):
        if set(meanings(token.stem)) & named or token.stem in one.words:
            # What else its name says must be said as well: 'breed 5' is no breed group.
            unsaid = [
                w for w in one.words if w not in _GENERIC and not set(meanings(w)) & _said(before)
            ]
            return 3.0 - 0.4 * distance - 0.5 * len(unsaid)
        if token.lower not in _JOINING:
            return 0.0
    return 0.0


def _said(near: Sequence[Token]) -> set[str]:
    return {meaning for token in near for meaning in meanings(token.stem)}


def _named_after(after: Sequence[Token], one: Parameter) -> float:
    """`8 passages` and `50 per page` speak of what the description counts."""
    near = [token.stem for token in after[:2]]
    if not near or one.is_id:
        return 0.0
    if near[0] in one.words or (near[0] in one.about and near[0] not in _JOINING):
        return 1.8
    phrase = " ".join(token.lower for token in after)
    if "per" in near and not after[0].is_number and re.search(r"\bper (\w+)", one.description):
        match = re.search(r"\bper (\w+)", one.description)
        return 3.2 if match and f"per {match[1]}" in phrase else 0.0
    return 0.0


def _mentioned(message: Message, named: frozenset[str], place: int) -> bool:
    return any(set(meanings(token.stem)) & named for token in message.tokens if token.end <= place)


def _pointing(
    message: Message, value: Value, before: Sequence[Token], one: Parameter, profile: Profile
) -> float:
    """How much a value looks like the name of one thing."""
    score = 0.0
    numbered = value.marked or (
        bool(before) and before[0].lower in ("number", "no", "nr", "id", "#")
    )
    # "reg no. PD88213" is no flock_id, where no flock is spoken of.
    if numbered and (one.required or (one.meanings - _GENERIC) & message.meanings):
        score += 1.6
    if value in message.pointed and one.required and one.type is Type.INTEGER:
        score += 1.6
    things = profile.nouns & {meaning for token in before[:2] for meaning in meanings(token.stem)}
    if things and one.required:
        score += 1.6
    if alike(value.text, one.examples):
        score += 2.5
    elif value.kind is Kind.CODE and one.type is Type.TEXT and one.required and not one.examples:
        score += 1.6
    told = {meaning for token in before[:2] for meaning in meanings(token.stem)}
    if one.required and one.type is Type.TEXT and one.about & told:
        score += 1.6 if value.kind is Kind.CODE else 1.0
    return score


def alike(text: str, examples: Sequence[str]) -> bool:
    """Whether a text has the shape of an example: letters and digits in the same turns."""
    # Mere numbers are alike by their length alone.
    apart = 1 if text.isdigit() else 4
    return len(text) > 4 and any(
        _shape(text) == _shape(example) and abs(len(text) - len(example)) <= apart
        for example in examples
    )


def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", text))


def _cue(taken: Taken, value: Value, one: Parameter) -> None:
    """Mark the words that announced a value."""
    start = value.start
    for token in taken.message.before(value.start, 4):
        named = set(meanings(token.stem)) & one.meanings
        if not named and token.lower not in _JOINING:
            break
        start = token.start
        if named:
            break
    taken.cue(one.name, start, value.start)
    after = taken.message.after(value.end, 2)
    end = value.end
    for token in after:
        if (
            token.lower not in ("per", "results", "each")
            and not set(meanings(token.stem)) & one.meanings
        ):
            break
        end = token.end
    taken.cue(one.name, value.end, end)


def _take_extremes(taken: Taken, wanted: Sequence[Parameter], *, changes: bool) -> None:
    """`the highest priority` is the most that the schema allows.

    So is `high priority` of a few steps, but nothing is changed to what it may mean.
    """
    for one in wanted:
        if not _numeric(one) or one.name in taken.arguments or one.is_id:
            continue
        for token in taken.message.tokens:
            if not set(meanings(token.stem)) & (one.meanings - _GENERIC):
                continue
            before = taken.message.before(token.start, 1)
            steps = _STEPS if is_short_scale(one) and not changes else ()
            limit = next(
                (
                    key
                    for word, key in (*_WORD_EXTREMES, *steps)
                    if before and before[0].lower == word
                ),
                "",
            )
            if limit in one.schema:
                taken.take(one.name, one.schema[limit])
                taken.cue(one.name, before[0].start, token.end)
                break
