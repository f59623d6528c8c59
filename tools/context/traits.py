"""Traits of an animal: one list with accuracies in percent, whatever form they came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tools.context.ranking import number_at

TOP_TRAITS: Final = 3
LEAST_ACCURACY: Final = 50


def listed(traits: Any) -> list[dict[str, Any]]:
    """Traits as objects with name, value and, where it is known, accuracy from 0 to 100.

    They may come as objects by name, as numbers by name, or as a list. NSIP itself gives fractions,
    its client percent: accuracies none of which is above 1 are fractions, if one is written as such.
    """
    rows = list(_rows(traits))
    known = [_accuracy(row) for row in rows]
    fractions = any(isinstance(one, float) for one in known) and max(known) <= 1
    for row, accuracy in zip(rows, known, strict=True):
        if row.pop("accuracy", None) is not None:
            # 0.57 * 100 is 56.99…
            percent = round(accuracy * 100, 2) if fractions else accuracy
            row["accuracy"] = int(percent) if percent == int(percent) else percent
    return rows


def select_top_traits(traits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The three most accurate traits, best first, ties by name; none below 50. Missing counts as 0."""
    good = [dict(trait) for trait in traits if _accuracy(trait) >= LEAST_ACCURACY]
    return sorted(good, key=lambda trait: (-_accuracy(trait), str(trait.get("name"))))[:TOP_TRAITS]


def _accuracy(trait: Mapping[str, Any]) -> float:
    return number_at(trait, "accuracy")


def _rows(traits: Any) -> Iterator[dict[str, Any]]:
    if isinstance(traits, Mapping):
        pairs = list(traits.items())
    else:
        pairs = [("", trait) for trait in traits] if isinstance(traits, list | tuple) else []
    for name, trait in pairs:
        written = trait if isinstance(trait, Mapping) else {"value": trait}
        lower = {str(key).lower(): value for key, value in written.items()}
        row = {"name": lower.get("name") or lower.get("trait") or str(name)}
        known = ("value", "accuracy", "units")
        yield row | {key: lower[key] for key in known if lower.get(key) is not None}
