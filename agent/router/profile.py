"""What the router knows of a tool before any message: its words, its verb, its parameters."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from agent.router.effects import Effect, effect, first_stem, own_verbs, tells_verb
from agent.router.parameters import Parameter, Type, parameters
from agent.router.thesaurus import ACTIONS, READING, Action, alternatives, meanings, phrase_meanings
from agent.router.values import Offered
from agent.router.words import STOP_WORDS, name_parts, stem, stems, tokens

LONGEST_DESCRIPTION: Final = 4000
# Among fewer tools than this, what all of them have still tells something.
FEW: Final = 12
RARE: Final = 2
LONG: Final = 6
NAME: Final = 1.0
LEAD: Final = 0.75
REST: Final = 0.4
PARAMETER: Final = 0.6
CHOICE: Final = 0.6
ABOUT: Final = 0.25
_SENTENCE_END: Final = re.compile(r"(?<=[.;])\s")
_CAPITALS: Final = re.compile(r"\b[A-Z][A-Z_]{2,}\b")
_PURPOSE: Final = re.compile(
    r"\b(?:best|use it|useful|use this|for when|ideal)\b.{0,300}", re.IGNORECASE | re.DOTALL
)
# Values that a tool tells of are what others take.
_EXAMPLES: Final = re.compile(r"\bsuch as [A-Z]{2,20}(?:(?:, | and )[A-Z]{2,20}){1,20}")
_NO_THING: Final = frozenset({"id", "by", "number", "one", "the", "a", "with", "all"})
_GENERAL: Final = frozenset(
    {"update", "change", "edit", "modify", "set", "adjust", "alter", "patch", "correct"}
)
_LEADING: Final = frozenset({"from", "to", "of", "in", "on", "for", "into", "by", "with", "at"})
_QUESTION_NAMES: Final = frozenset({"question", "query", "prompt", "q"})


@dataclass(frozen=True, slots=True)
class Profile:
    """A tool, read. `weights` say how much each meaning belongs to it, `nouns` what it is about."""

    tool: Offered
    parameters: tuple[Parameter, ...]
    weights: Mapping[str, float]
    nouns: frozenset[str]
    action: Action | None
    # What its description begins with, where that is another way to read than its name tells.
    also_reads: Action | None
    answers_questions: bool
    is_general: bool
    effect: Effect
    # The stem that its description begins with.
    begins: str
    # The stems that order what it does, where no known verb tells that; and whether that is no guess.
    verbs: frozenset[str]
    tells_verb: bool
    vocabulary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def things(self) -> tuple[str, ...]:
        """The stems of what it does something to: user and group, in remove_user_from_group."""
        parts = [stem(part) for part in name_parts(self.name)]
        found = [_last_noun(run, self.verbs) for run in _apart(parts)]
        # A verb that is no other verb's noun: delete_note.
        return tuple(one for one in found if one) or tuple(
            one for one in parts[1:] if one in ACTIONS and ACTIONS[one] is not self.action
        )

    @property
    def thing(self) -> str:
        """The stem of the one thing that it is for, where there is one."""
        return next(iter(self.things), "")

    @property
    def is_general_update(self) -> bool:
        """Whether the verb of its name leaves open what is to change."""
        verb = next((part for part in name_parts(self.name) if stem(part) in ACTIONS), "")
        return verb in _GENERAL

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(one for one in self.parameters if one.required)


class Catalogue:
    """All tools offered; what is rare among them tells more than what all have."""

    def __init__(self, tools: Sequence[Offered]) -> None:
        usable = [tool for tool in tools if tool.name]
        names = [tool.name for tool in usable]
        described = {tool.name: _description(tool) for tool in usable}
        self.profiles = tuple(_profile(tool, names, described) for tool in usable)
        self._frequency = Counter(term for one in self.profiles for term in one.weights)
        parts = frozenset(
            stem(part) for name in names for part in name_parts(name) if len(part) > 2
        )
        # Short words are too near to others to be guessed for what they only mean as well.
        self.known = parts | {
            word for part in parts for word in alternatives(part) if len(word) >= LONG
        }

    def is_rare(self, term: str) -> bool:
        """Whether hardly any other tool has a meaning."""
        return self._frequency.get(term, 0) <= RARE

    def rarity(self, term: str) -> float:
        """How much a meaning tells tools apart."""
        count = max(len(self.profiles), FEW)
        return math.log(1 + count / self._frequency.get(term, count))


def _apart(parts: Sequence[str]) -> list[list[str]]:
    """The words of a name, parted by those that lead from one thing to another."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part in _LEADING:
            runs.append([])
        else:
            runs[-1].append(part)
    return runs


def _last_noun(parts: Sequence[str], verbs: AbstractSet[str]) -> str:
    nouns = [one for one in parts if one not in ACTIONS and one not in verbs | _NO_THING]
    return nouns[-1] if nouns else ""


def _description(tool: Offered) -> str:
    return (tool.description or "")[:LONGEST_DESCRIPTION]


def _profile(tool: Offered, names: Sequence[str], described: Mapping[str, str]) -> Profile:
    taken = parameters(tool.input_schema)
    own = _without_names(described[tool.name], names)
    lead, rest = _lead(own)
    action = _action(tool.name, lead)
    asked = next((one for one in taken if one.required and one.type is Type.TEXT), None)
    answers = _takes_question(asked, own)
    general = bool({"general", "basic", "default"} & set(stems(own)))
    # What is for any question is not known by what it is best for.
    told = _purpose(own) if answers and not general else (lead, rest)
    weights = _weights(tool.name, *told, taken)
    nouns = _meanings(
        word for word in (stem(part) for part in name_parts(tool.name)) if word not in ACTIONS
    )
    return Profile(
        tool=tool,
        parameters=taken,
        weights=weights,
        nouns=nouns | _meanings(word for word in stems(lead)[:12] if word not in ACTIONS),
        action=action,
        also_reads=_also_reads(action, lead),
        answers_questions=answers,
        is_general=general,
        effect=effect(tool, action, lead),
        begins=first_stem(lead),
        verbs=own_verbs(tool.name, lead),
        tells_verb=tells_verb(tool.name, lead),
        vocabulary={one.name: _vocabulary(one, described) for one in _all(taken)},
    )


def _all(taken: Sequence[Parameter]) -> list[Parameter]:
    return [deep for one in taken for deep in (one, *_all(one.inner))]


def _without_names(text: str, names: Sequence[str]) -> str:
    """A description says what others do, too; their names are no words of this tool."""
    for name in names:
        if "_" in name:
            text = text.replace(name, " ")
    return _EXAMPLES.sub(" ", text)


def _lead(text: str) -> tuple[str, str]:
    """What the tool does and what it is best for; and the rest."""
    first, *others = _SENTENCE_END.split(text, maxsplit=1)
    rest = others[0] if others else ""
    purpose = _PURPOSE.search(rest)
    return (f"{first} {purpose.group()}" if purpose else first), rest


def _purpose(text: str) -> tuple[str, str]:
    """What a tool that answers questions is best for; and how it does that, which questions speak of by chance."""
    purpose = _PURPOSE.search(text)
    return (purpose.group(), text[: purpose.start()]) if purpose else _lead(text)


def _action(name: str, lead: str) -> Action | None:
    for part in name_parts(name):
        if stem(part) in ACTIONS:
            return ACTIONS[stem(part)]
    verb = stems(lead)[:1]
    return ACTIONS.get(verb[0]) if verb else None


def _also_reads(action: Action | None, lead: str) -> Action | None:
    verb = next((stem(token.lower) for token in tokens(lead)[:1]), "")
    found = ACTIONS.get(verb)
    return found if action in READING and found in READING else None


def _weights(name: str, lead: str, rest: str, taken: Sequence[Parameter]) -> dict[str, float]:
    fields: list[tuple[float, list[str]]] = [
        (NAME, [stem(part) for part in name_parts(name)]),
        (LEAD, [*stems(lead), *sorted(phrase_meanings(lead.lower()))]),
        (REST, stems(rest)),
    ]
    for one in _all(taken):
        fields.append((PARAMETER, [word for word in one.words if word not in STOP_WORDS]))
        fields.append((CHOICE, [stem(part) for value in one.choices for part in name_parts(value)]))
        fields.append((ABOUT, list(one.about)))
    weights: dict[str, float] = {}
    for weight, found in fields:
        for word in found:
            for place, meaning in enumerate(meanings(word)):
                # What is only a synonym counts a little less than the word itself.
                worth = weight if place == 0 else weight * 0.9
                weights[meaning] = max(weights.get(meaning, 0.0), worth)
    return weights


def _meanings(found: Iterable[str]) -> frozenset[str]:
    return frozenset(
        meaning for word in found for meaning in meanings(word) if word not in STOP_WORDS
    )


def _takes_question(asked: Parameter | None, description: str) -> bool:
    """Whether the tool answers questions put to it in words."""
    if asked is None:
        return False
    told = {"question"} & (asked.about | set(asked.words))
    return bool(told) or (
        bool(_QUESTION_NAMES & set(asked.words)) and "question" in stems(description)
    )


def _vocabulary(one: Parameter, described: Mapping[str, str]) -> tuple[str, ...]:
    """Values a text parameter is known to take: what it names in capitals, or what the tool it refers to does."""
    texts = [one.description]
    texts += [text for name, text in described.items() if "_" in name and name in one.description]
    capitals = [word for text in texts for word in _CAPITALS.findall(text)]
    return tuple(dict.fromkeys(capitals))
