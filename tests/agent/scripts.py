"""A language model that follows a script: which tool it calls for which message, and what it says then."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Deltas = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Script:
    """For each message the calls that the model makes. Afterwards it repeats what the tools answered;
    to any other message it says that it heard it."""

    calls: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)

    def __call__(self, sent: Mapping[str, Any]) -> Deltas:
        messages = sent["messages"]
        if messages[-1]["role"] == "tool":
            return says(f"The tool says: {text_of(messages[-1])}")
        asked = text_of(messages[-1])
        if asked in self.calls:
            return calls(*self.calls[asked])
        return says(f"I heard: {asked}")


def says(text: str) -> Deltas:
    """The text in pieces."""
    return [{"content": text[place : place + 7]} for place in range(0, len(text), 7)]


def calls(*made: tuple[str, Mapping[str, Any]]) -> Deltas:
    """Calls of tools as they are streamed: the name first, then the arguments bit by bit."""
    deltas: list[Mapping[str, Any]] = []
    for index, (name, arguments) in enumerate(made):
        function = {"name": name, "arguments": ""}
        start = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        deltas.append({"tool_calls": [start]})
        written = json.dumps(arguments)
        deltas += [
            {
                "tool_calls": [
                    {"index": index, "function": {"arguments": written[place : place + 5]}}
                ]
            }
            for place in range(0, len(written), 5)
        ]
    return deltas


def text_of(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content)
