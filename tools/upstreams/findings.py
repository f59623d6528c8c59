"""What an operator should look at in a definition before agents see it.

Findings are advice: nothing is left out for them. Each says in plain words what and where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tools.upstreams.characters import character_name, hidden_characters, visible
from tools.upstreams.instructions import instruction_like
from tools.upstreams.lookalikes import KnownNames, scripts
from tools.upstreams.pinning import IDENTITY, Kind, pinned

SHORTEST_DESCRIPTION: Final = 10
LONGEST_DESCRIPTION: Final = 10_000
MOST_FINDINGS: Final = 50
MOST_NAMED: Final = 5
DEEPEST: Final = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. `kind` groups them, `where` is a path in the definition."""

    kind: str
    where: str
    text: str

    def to_json(self) -> dict[str, str]:
        return {"kind": self.kind, "where": self.where, "text": self.text}


def definition_findings(kind: Kind, definition: Mapping[str, Any]) -> list[Finding]:
    """What stands out in the texts of a definition."""
    found = islice(_in_definition(kind, definition), MOST_FINDINGS)
    return list(found)


def text_findings(where: str, text: str) -> Iterator[Finding]:
    """Hidden characters and instructions in one text."""
    where = visible(where)
    if hidden := hidden_characters(text):
        different = list(dict.fromkeys(hidden))
        named = ", ".join(map(character_name, different[:MOST_NAMED]))
        more = f" and {len(different) - MOST_NAMED} others" if len(different) > MOST_NAMED else ""
        count = "1 character" if len(hidden) == 1 else f"{len(hidden)} characters"
        yield Finding("hidden", where, f"Has {count} that people do not see: {named}{more}.")
    for meaning, words in instruction_like(text):
        yield Finding("instruction", where, f"The text {meaning}: “{words}”.")


def name_findings(name: str, known: KnownNames) -> Iterator[Finding]:
    """Whether a name can be taken for that of a tool of somebody else."""
    if len(mixed := scripts(name)) > 1:
        listed = ", ".join(sorted(mixed)).lower()
        yield Finding("lookalike", "name", f"Mixes letters of several scripts: {listed}.")
    if twin := known.same_to_the_eye(name):
        text = f"Looks like {visible(twin)} of {known.owner(twin)}."
        yield Finding("lookalike", "name", text)
    elif near := known.one_letter_away(name):
        text = f"Is one letter away from {visible(near)} of {known.owner(near)}."
        yield Finding("lookalike", "name", text)


def _in_definition(kind: Kind, definition: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _description(kind, definition.get("description"))
    seen: set[tuple[str, str]] = set()
    for where, text in _texts(pinned(kind, definition), "", DEEPEST):
        for finding in text_findings(where, text):
            # Names stand in several places; one is enough.
            if (finding.kind, finding.text) not in seen:
                seen.add((finding.kind, finding.text))
                yield finding


def _description(kind: Kind, description: Any) -> Iterator[Finding]:
    text = description.strip() if isinstance(description, str) else ""
    if kind is Kind.TOOL and not text:
        yield Finding("description", "description", "Has no description; a stand-in is shown.")
    elif kind is Kind.TOOL and len(text) < SHORTEST_DESCRIPTION:
        yield Finding(
            "description",
            "description",
            f"Has only {len(text)} characters; models choose tools by it.",
        )
    elif len(text) > LONGEST_DESCRIPTION:
        yield Finding(
            "description", "description", f"Has {len(text):,} characters, which is very long."
        )


def _texts(value: Any, where: str, depth: int) -> Iterator[tuple[str, str]]:
    """Every text in a value, names of properties included, with its path."""
    if isinstance(value, str):
        yield where, value
    elif depth and isinstance(value, Mapping):
        for key, item in value.items():
            inner = f"{where}.{key}" if where else str(key)
            if where and not str(key).isidentifier():
                yield f"{inner} (name)", str(key)
            yield from _texts(item, inner, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _texts(item, f"{where}[{place}]", depth - 1)


def identity(kind: Kind, definition: Any) -> str:
    """What a definition is known by at its server; empty when it says nothing usable."""
    name = definition.get(IDENTITY[kind]) if isinstance(definition, Mapping) else None
    return name if isinstance(name, str) and name.strip() else ""
