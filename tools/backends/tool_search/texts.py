"""What a tool says about itself, as search reads it: words by where they stand, and two passages."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.contracts import ToolSpec

LONGEST_TEXT: Final = 8_000
LONGEST_PASSAGE: Final = 2_000
DEEPEST_PARAMETER: Final = 3
MOST_PARAMETERS: Final = 100
MOST_CHOICES: Final = 20
# How much a word counts by where it stands.
WEIGHTS: Final[Mapping[str, float]] = {
    "name": 3.0,
    "title": 2.0,
    "tags": 2.0,
    "description": 1.0,
    "parameters": 1.0,
    "hints": 0.5,
}
_FILLERS: Final = """
a an and any are as at be but by can could do does for from had has have how i if in into is it its
me my need of on or our please s should so some t than that the their them then there these they
this those to us want was we were what when where which who will with would you your
"""
STOP_WORDS: Final = frozenset(_FILLERS.split())
_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL: Final = re.compile(r"[aeiouy]")


@dataclass(frozen=True, slots=True, eq=False)
class ToolText:
    """One tool ready to be searched. `terms` counts stems, weighted by where they stand.

    Its meaning is that of what it is `called` and of what it `does`. Compared by identity, so that
    a set of them can be looked up cheaply.
    """

    spec: ToolSpec
    terms: Mapping[str, float]
    length: float
    called: str
    does: str
    digest: str


def tool_text(spec: ToolSpec) -> ToolText:
    """The words and the passages of `spec`; its digest changes with the passages."""
    parameters = list(_parameters(spec.input_schema))[:MOST_PARAMETERS]
    fields = {
        "name": spec.name,
        "title": spec.title,
        "tags": " ".join(str(tag) for tag in spec.tags),
        "description": spec.description,
        "parameters": " ".join(name for name, _ in parameters),
        "hints": " ".join(hint for _, hint in parameters),
    }
    terms: dict[str, float] = {}
    for field, text in fields.items():
        for term in stems(text[:LONGEST_TEXT]):
            terms[term] = terms.get(term, 0.0) + WEIGHTS[field]
    called, does = _called(spec), spec.description.strip()[:LONGEST_PASSAGE]
    return ToolText(
        spec=spec,
        terms=terms,
        length=sum(terms.values()),
        called=called,
        does=does,
        digest=hashlib.sha256(f"{called}\0{does}".encode("utf-8", "replace")).hexdigest(),
    )


def stems(text: str) -> list[str]:
    """The words of `text` that carry meaning, without endings, accents and capitals."""
    parted = _HUMP.sub(" ", text)
    plain = unicodedata.normalize("NFKD", parted)
    folded = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    return [stem(word) for word in _WORD.findall(folded) if word not in STOP_WORDS]


def stem(word: str) -> str:
    """`word` without the endings that only inflect it: tickets, creating, updated."""
    if len(word) <= 3 or not word.isascii():
        return word
    word = _without_plural(word)
    for ending in ("ation", "ing", "ion", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            # "planning" and "planned" are "plan", "translation" is "translate" without its e.
            if ending == "ation":
                rest += "at"
            if rest[-1] == rest[-2] and rest[-1] not in "lsz":
                rest = rest[:-1]
            return rest
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _called(spec: ToolSpec) -> str:
    """The title and the words of the name."""
    name = " ".join(_WORD.findall(_HUMP.sub(" ", spec.name.replace("_", " "))))
    return f"{spec.title}: {name}" if spec.title else name


def _parameters(schema: Any, depth: int = 1) -> Iterator[tuple[str, str]]:
    """Every parameter's name with what is written about it, nested ones included."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return
    for name, about in properties.items():
        if not isinstance(about, Mapping):
            yield str(name), ""
            continue
        choices = about.get("enum")
        shown = choices[:MOST_CHOICES] if isinstance(choices, list) else []
        words = [about.get("title"), about.get("description"), *shown]
        yield str(name), " ".join(word for word in words if isinstance(word, str))
        if depth < DEEPEST_PARAMETER:
            yield from _parameters(about, depth + 1)
            yield from _parameters(about.get("items"), depth + 1)
