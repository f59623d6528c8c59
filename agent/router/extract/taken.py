"""Which parts of a message have become arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.router.message import Kind, Message, Value


@dataclass(slots=True)
class Taken:
    """The arguments found so far, and the places in the message they came from.

    `cues` are places of words that only announced a value: no value themselves, but no text either.
    """

    message: Message
    arguments: dict[str, Any] = field(default_factory=dict)
    used: list[Value] = field(default_factory=list)
    cues: list[tuple[int, int]] = field(default_factory=list)

    def free(self, *kinds: Kind) -> list[Value]:
        """The values of these kinds that nothing has taken yet."""
        return [one for one in self.message.values if one.kind in kinds and one not in self.used]

    def take(self, name: str, argument: Any, *values: Value) -> None:
        self.arguments[name] = argument
        self.used.extend(values)

    def cue(self, start: int, end: int) -> None:
        self.cues.append((start, end))

    def remaining(self, start: int = 0) -> str:
        """The message from a place on, without what was taken."""
        text = self.message.text
        spans = [(one.start, one.end) for one in self.used] + self.cues
        for begin, end in spans:
            text = text[:begin] + "\0" * (end - begin) + text[end:]
        return text[start:]
