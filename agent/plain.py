"""JSON as people read it: a line for each value, indented below what it belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def readable(text: str) -> str:
    """The text, or when it is a JSON object or list, its values line by line."""
    value = _parsed(text)
    if not isinstance(value, dict | list):
        return text
    try:
        return "\n".join(_lines(value, "")) or text
    except RecursionError:
        return text


def complaint(text: str) -> str:
    """What a failed tool says: of an error object its message, with what to do where it tells that."""
    value = _parsed(text)
    error = value.get("error") if isinstance(value, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return text
    details = error.get("data")
    advice = details.get("suggestion") if isinstance(details, Mapping) else None
    said = str(error["message"])
    return f"{said} {advice}" if isinstance(advice, str) and advice not in said else said


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


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
