"""What a message calls the thing that a tool changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.router.beside import Piece
from agent.router.extract import Extracted
from agent.router.extract.numbers import alike
from agent.router.message import Message
from agent.router.parameters import ID_WORDS, Parameter
from agent.router.profile import Profile
from agent.router.said_values import Kind
from agent.router.thesaurus import meanings
from agent.router.words import word_set

BETWEEN: Final = word_set("the my our a an this that with id number nr # called named item entry")
JOINING: Final = word_set("and with as to for of at from in on")


def own_word(one: Parameter, profile: Profile) -> str:
    """The stem that says what an id is of: group in `group_id`; the tool's thing in a mere `id`."""
    words = [word for word in one.words if word not in ID_WORDS]
    return words[-1] if words else profile.thing


def ids(profile: Profile) -> list[Parameter]:
    """The parameters that name the things a tool cannot do without."""
    return [one for one in profile.required if one.is_id]


def needed(profile: Profile) -> tuple[str, ...]:
    """What has to be named before anything is done for good."""
    return profile.things or tuple(word for one in ids(profile) if (word := own_word(one, profile)))


def is_thing(piece: Piece, profile: Profile, pieces: Sequence[Piece]) -> bool:
    """Whether a word is the tool's thing, or the name of an argument that is told."""
    if piece.word is None:
        return False
    told = {one.name for one in pieces if one.name}
    words = [*profile.things, *(own_word(one, profile) for one in ids(profile))]
    words += [word for one in profile.parameters if one.name in told for word in one.words]
    said = set(meanings(piece.word.stem))
    return any(said & set(meanings(word)) for word in words if word)


def each_id_is_its_own(profile: Profile, pieces: Sequence[Piece]) -> bool:
    """Whether the word before each id is what the id is of: "group 5" is no user_id, nor are "5 users"."""
    own = {one.name: own_word(one, profile) for one in ids(profile)}
    for place, one in enumerate(pieces):
        if one.name not in own:
            continue
        behind = pieces[place + 1] if place + 1 < len(pieces) else None
        if behind and behind.lower.endswith("s") and is_thing(behind, profile, pieces):
            return False
        before = next(
            (near for near in reversed(pieces[:place]) if near.lower not in BETWEEN), None
        )
        if before is None or before.word is None or not is_thing(before, profile, pieces):
            continue
        if not set(meanings(before.word.stem)) & set(meanings(own[one.name])):
            return False
    return True


def is_code(profile: Profile, message: Message, extracted: Extracted) -> bool:
    """Whether the one id is a code of the shape that the schema gives it."""
    codes = [value.text for value in message.values if value.kind is Kind.CODE]
    return len(codes) == 1 and any(
        extracted.arguments.get(one.name) == codes[0]
        and (alike(codes[0], one.examples) or "pattern" in one.schema)
        for one in ids(profile)
    )
