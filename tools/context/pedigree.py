"""The short form of a lineage: every ancestor, by generation, with as much about it as fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.context.cutter import REPORT_KEY
from tools.context.forms import Forms, NotOfThisKind, first_of, text_of
from tools.context.omissions import Omission, report

IDENTITY: Final = ("lpn_id", "name", "farm_name")
# What is said about each ancestor, from the least to the most.
DETAILS: Final = (
    IDENTITY,
    (*IDENTITY, "date_of_birth"),
    (*IDENTITY, "date_of_birth", "sex", "status"),
    (*IDENTITY, "date_of_birth", "sex", "status", "us_index", "src_index"),
)

Generations = list[list[Mapping[str, Any]]]


def nsip_lineage(data: Any, metadata: bool) -> Forms:
    """Forms of a lineage: every ancestor is in each of them."""
    subject = first_of(data, "subject")
    generations = generations_of(data)
    if text_of(subject) is None or not any(generations):
        raise NotOfThisKind("a lineage has a subject and ancestors")
    parents = {
        key: {"lpn_id": text_of(parent)}
        for key in ("sire", "dam")
        if text_of(parent := first_of(data, key)) is not None
    }

    def build(detail: int) -> dict[str, Any]:
        short = shortened(generations, DETAILS[detail])
        lineage = {
            "subject": dict(subject),
            **parents,
            "ancestors": sum(map(len, generations)),
            "generations": short,
        }
        left_out = report(omissions(generations, short), 1, cursors=True)
        return {**lineage, REPORT_KEY: left_out} if left_out else lineage

    return Forms(len(DETAILS) - 1, build, keep=("$.subject",), drop=("$.raw_data",))


def generations_of(lineage: Any) -> Generations:
    """The ancestors of a lineage as NSIP's client gives it: parents, grandparents and so on."""
    generations = first_of(lineage, "generations")
    if not isinstance(generations, list | tuple):
        return []
    return [
        [animal for animal in generation if isinstance(animal, Mapping)]
        for generation in generations
        if isinstance(generation, list | tuple)
    ]


def shortened(generations: Generations, fields: tuple[str, ...]) -> list[list[dict[str, Any]]]:
    """The same animals in the same places, each with some of its fields."""
    return [
        [{key: animal[key] for key in fields if key in animal} for animal in generation]
        for generation in generations
    ]


def omissions(generations: Generations, short: list[list[dict[str, Any]]]) -> list[Omission]:
    """What `short` does not say about ancestors, with their places in a lineage."""
    return [
        Omission(("generations", depth, place), len(told), len(animal), "keys")
        for depth, generation in enumerate(generations)
        for place, (animal, told) in enumerate(zip(generation, short[depth], strict=True))
        if len(told) < len(animal)
    ]
