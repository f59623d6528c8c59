"""JSON text: read it, say what is wrong with it, and where each of its values stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DEEPEST: Final = 64
# What to do, by what Python's reader calls the fault.
ADVICE: Final[Mapping[str, str]] = {
    "Expecting property name enclosed in double quotes": (
        "Write a name in double quotes here, or take away the comma before it."
    ),
    "Expecting value": (
        "Write a value here: text in double quotes, a number, true, false, null, {} or []."
    ),
    "Expecting ',' delimiter": "Put a comma before this, or close what is open.",
    "Expecting ':' delimiter": "Put a colon between the name and its value.",
    "Extra data": "Take away what stands after the end.",
    "Unterminated string starting at": "Close this text with a double quote.",
    "Invalid control character at": "Write \\n for a line end and \\t for a tab inside a text.",
    "Invalid \\escape": "Write \\\\ for a backslash.",
    "Illegal trailing comma before end of object": "Take away the last comma.",
    "Illegal trailing comma before end of array": "Take away the last comma.",
}

# Names and numbers that lead from the root to a value.
Path = tuple[str | int, ...]
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_READER: Final = json.JSONDecoder()
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, both from one."""

    line: int
    column: int


class SyntaxFault(ValueError):
    """The text is not JSON; the message says what to do, `place` where."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place


def read_json(text: str) -> Any:
    """The value that `text` holds.

    Raises:
        SyntaxFault: it holds none.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        message = ADVICE.get(fault.msg, f"{fault.msg}.")
        raise SyntaxFault(message, Place(fault.lineno, fault.colno)) from fault
    except RecursionError as fault:
        raise SyntaxFault("Nested too deeply.") from fault
    except ValueError as fault:
        raise SyntaxFault("A number is too long.") from fault


@dataclass(slots=True)
class Places:
    """Where the values and names of a JSON text stand, and which names are written twice."""

    text: str
    values: dict[Path, int] = field(default_factory=dict)
    names: dict[Path, int] = field(default_factory=dict)
    twice: list[tuple[Path, int]] = field(default_factory=list)

    def of(self, path: Path, *, name: bool = False) -> Place:
        """The place of a value, or of its name; that of what it would be in when it is not there."""
        while path and path not in self.values:
            path = path[:-1]
        offset = self.names.get(path) if name else None
        return self.at(self.values.get(path, 0) if offset is None else offset)

    def at(self, offset: int) -> Place:
        starts = [0, *(one.end() for one in re.finditer("\n", self.text))]
        line = bisect_right(starts, offset)
        return Place(line, offset - starts[line - 1] + 1)


def places_in(text: str) -> Places:
    """Where everything stands in `text`, which is JSON; what is nested too deeply is left out."""
    found = Places(text)
    _value(found, _skip(text, 0), ())
    return found


def _skip(text: str, at: int) -> int:
    matched = _SPACE.match(text, at)
    return matched.end() if matched else at


def _value(found: Places, at: int, path: Path) -> int:
    """Note the value that begins at `at`, and what is in it; where it ends."""
    found.values[path] = at
    text = found.text
    if text[at] == '"':
        return _READER.raw_decode(text, at)[1]
    if text[at] not in "{[":
        matched = _SCALAR.match(text, at)
        return matched.end() if matched else at
    if len(path) >= DEEPEST:
        return _past(text, at)
    return _object(found, at, path) if text[at] == "{" else _array(found, at, path)


def _object(found: Places, at: int, path: Path) -> int:
    text, at = found.text, _skip(found.text, at + 1)
    while text[at] != "}":
        name, end = _READER.raw_decode(text, at)
        inner = (*path, name)
        if inner in found.names:
            found.twice.append((inner, at))
        found.names[inner] = at
        # Past the colon.
        at = _skip(text, _value(found, _skip(text, _skip(text, end) + 1), inner))
        at = _skip(text, at + 1) if text[at] == "," else at
    return at + 1


def _array(found: Places, at: int, path: Path) -> int:
    text, at, number = found.text, _skip(found.text, at + 1), 0
    while text[at] != "]":
        at = _skip(text, _value(found, at, (*path, number)))
        at, number = (_skip(text, at + 1) if text[at] == "," else at), number + 1
    return at + 1


def _past(text: str, at: int) -> int:
    """Where the object or list that begins at `at` ends."""
    depth = 0
    for kind, end in _brackets(text, at):
        depth += 1 if kind in "{[" else -1
        if depth == 0:
            return end
    return len(text)


def _brackets(text: str, at: int) -> Iterator[tuple[str, int]]:
    for one in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text[at:]):
        if one.group()[0] != '"':
            yield one.group(), at + one.end()
