"""Which parts of a message have become arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.router.message import Message
from agent.router.said_values import Kind, Value

Span = tuple[int, int]


@dataclass(slots=True)
class Taken:
    """The arguments found so far, and the places in the message they came from.

    `cues` are places of words that only announced a value: no value themselves, but no text either.
    `places` say where each argument stands, `announced` where it was announced, `loose` which are texts
    that nothing marks the ends of.
    """

    message: Message
    arguments: dict[str, Any] = field(default_factory=dict)
    used: list[Value] = field(default_factory=list)
    cues: list[Span] = field(default_factory=list)
    places: dict[str, list[Span]] = field(default_factory=dict)
    announced: dict[str, list[Span]] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)

    def free(self, *kinds: Kind) -> list[Value]:
        """The values of these kinds that nothing has taken yet."""
        return [one for one in self.message.values if one.kind in kinds and one not in self.used]

    def take(self, name: str, argument: Any, *values: Value) -> None:
        self.arguments[name] = argument
        self.used.extend(values)
        self.places.setdefault(name, []).extend((one.start, one.end) for one in values)

    def take_text(self, name: str, text: str, value: Value | None) -> None:
        """Take a text: that of a quoted value, or a part of the message that nothing marks the ends of."""
        self.take(name, text, *([value] if value else []))
        start = self.message.text.find(text)
        if value is None:
            self.loose.add(name)
            self.places[name] += [(start, start + len(text))] if start >= 0 else []

    def cue(self, name: str, start: int, end: int) -> None:
        self.cues.append((start, end))
        self.announced.setdefault(name, []).append((start, end))

    def remaining(self, start: int = 0) -> str:
        """The message from a place on, without what was taken."""
        text = self.message.text
        spans = [(one.start, one.end) for one in self.used] + self.cues
        for begin, end in spans:
            text = text[:begin] + "\0" * (end - begin) + text[end:]
        return text[start:]
