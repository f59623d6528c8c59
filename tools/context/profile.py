"""The short form of all about one animal: itself, its ancestors and its progeny."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.context.animals import PRESERVED, read_animal
from tools.context.cutter import REPORT_KEY
from tools.context.forms import Forms, NotOfThisKind, first_of, text_of, whole_number
from tools.context.omissions import Omission, report
from tools.context.pedigree import IDENTITY, generations_of, shortened


def nsip_profile(data: Any, metadata: bool) -> Forms:
    """Forms of a profile: the animal always, then its top traits, then its ancestors generation by
    generation, then its progeny one by one.
    """
    if not isinstance(data, Mapping):
        raise NotOfThisKind("a profile has details, lineage and progeny")
    animal = read_animal(data.get("details"), metadata=metadata)
    generations = generations_of(data.get("lineage"))
    listed = first_of(data.get("progeny"), "animals")
    progeny = [row for row in listed if text_of(row)] if isinstance(listed, list) else []
    total = whole_number(first_of(data.get("progeny"), "total_count"))
    if total is None:
        total = animal.total_progeny
    elif not animal.total_progeny:
        animal = replace(animal, total_progeny=total)

    def build(form: int) -> dict[str, Any]:
        traits = min(form, len(animal.top_traits))
        depth = min(form - traits, len(generations))
        first = form - traits - depth
        profile = {
            **replace(animal, top_traits=animal.top_traits[:traits]).fields(),
            "Lineage": {"generations": shortened(generations[:depth], IDENTITY)},
            "Progeny": {"total_count": total, "lpn_ids": [text_of(row) for row in progeny[:first]]},
        }
        cut = [
            Omission(("lineage", "generations"), depth, len(generations), "items", depth),
            Omission(("progeny", "animals"), first, len(progeny), "items", first),
        ]
        left_out = report([one for one in cut if one.kept < one.total], 2, cursors=True)
        return {**profile, REPORT_KEY: left_out} if left_out else profile

    return Forms(
        len(animal.top_traits) + len(generations) + len(progeny),
        build,
        keep=(*(f"details.{key}" for key in PRESERVED), "progeny.total_count"),
        drop=("details.raw_data", "lineage.raw_data"),
    )
