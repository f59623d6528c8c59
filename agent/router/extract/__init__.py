"""The arguments of a tool, as far as a message tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from agent.router.extract.choices import take_choices
from agent.router.extract.days import take_days
from agent.router.extract.lists import take_lists
from agent.router.extract.main_text import take_main_text
from agent.router.extract.named import take_known_ids, take_named_texts
from agent.router.extract.numbers import take_numbers
from agent.router.extract.ranges import take_ranges
from agent.router.extract.taken import Span, Taken
from agent.router.message import Message
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.said_values import Value


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found, what is required and was not, and which values of the message found a place.

    `places` say where the arguments stand, `announced` where words only announce them; `loose` are those
    that are texts without quotes.
    """

    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    used: tuple[Value, ...]
    places: Mapping[str, Sequence[Span]]
    announced: Mapping[str, Sequence[Span]]
    loose: AbstractSet[str]


def extract(profile: Profile, message: Message) -> Extracted:
    """Find the arguments of one tool in a message."""
    taken = Taken(message)
    plain = [one for one in profile.parameters if one.type is not Type.OBJECT]
    nested = [inner for one in profile.parameters for inner in one.inner]
    # What a tool takes itself goes before what it takes inside of something.
    names = {one.name for one in plain}
    wanted = [*plain, *(one for one in nested if one.name not in names)]
    _take(taken, profile, wanted)
    take_main_text(taken, profile)
    arguments = _nested(profile.parameters, taken.arguments)
    missing = tuple(one.name for one in profile.required if one.name not in arguments)
    return Extracted(
        arguments, missing, tuple(taken.used), taken.places, taken.announced, taken.loose
    )


def _take(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    take_lists(taken, wanted)
    take_choices(taken, profile, wanted)
    take_days(taken, wanted)
    take_ranges(taken, wanted)
    take_numbers(taken, profile, wanted)
    take_known_ids(taken, wanted)
    take_named_texts(taken, profile, wanted)


def _nested(parameters: Sequence[Parameter], found: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments where the schema has them, in its order."""
    own = {one.name for one in parameters}
    arguments: dict[str, Any] = {}
    for one in parameters:
        if one.name in found:
            arguments[one.name] = found[one.name]
        elif one.inner:
            within = {
                p.name: found[p.name] for p in one.inner if p.name in found and p.name not in own
            }
            if within:
                arguments[one.name] = within
    return arguments
