"""JSON as people read it: a line for each value, indented below what it belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

# Of a part beside an answer; a longer one is what the answer was made of.
MOST_LINES: Final = 12
# The control plane's code for what a tool needs and is not there.
AWAY: Final = -32004


def readable(text: str) -> str:
    """The text, or when it is a JSON object or list, its values line by line.

    Of an object with an `answer` that one comes first, and of its long parts only their size is told.
    """
    value = _parsed(text)
    if not isinstance(value, dict | list):
        return text
    try:
        lines = _answered(value) if _is_answer(value) else _lines(value, "")
        return "\n".join(lines) or text
    except RecursionError:
        return text


def complaint(text: str) -> str:
    """What a failed tool says: of an error object its message, with what to do where it tells that."""
    error = _error(text)
    if not isinstance(error.get("message"), str):
        return text
    details = error.get("data")
    advice = details.get("suggestion") if isinstance(details, Mapping) else None
    said = str(error["message"])
    return f"{said} {advice}" if isinstance(advice, str) and advice not in said else said


def is_away(text: str) -> bool:
    """Whether a failed tool says that what it needs is not there."""
    return _error(text).get("code") == AWAY


def _error(text: str) -> Mapping[str, Any]:
    value = _parsed(text)
    error = value.get("error") if isinstance(value, Mapping) else None
    return error if isinstance(error, Mapping) else {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_answer(value: Any) -> TypeGuard[dict[str, Any]]:
    answer = value.get("answer") if isinstance(value, Mapping) else None
    return isinstance(answer, str) and bool(answer.strip())


def _answered(value: Mapping[str, Any]) -> Iterator[str]:
    yield value["answer"]
    for name, one in value.items():
        lines = [] if name == "answer" else list(_line(f"{name}:", one, ""))
        if isinstance(one, dict | list) and "\n".join(lines).count("\n") > MOST_LINES:
            yield f"{name}: {len(one)} entries, too long to be shown here"
        else:
            yield from lines


def _lines(value: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _line(f"{indent}{name}:", one, indent)
        return
    for one in value:
        if isinstance(one, Mapping) and one:
            first, *rest = _lines(one, f"{indent}  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield from _line(f"{indent}-", one, indent)


def _line(start: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield start
        yield from _lines(value, f"{indent}  ")
    elif value is None or value in ("", [], {}):
        yield f"{start} none"
    else:
        yield f"{start} {value if isinstance(value, str) else json.dumps(value)}"
