"""Arguments, checked before anything reaches the database.

The schemas say the same; a caller may send what they forbid all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from examples.todo_server.values import (
    DESCRIPTION_LENGTH,
    HIGHEST_PRIORITY,
    LARGEST_ID,
    LOWEST_PRIORITY,
    MOST_TAGS,
    QUERY_LENGTH,
    STATUSES,
    TAG_LENGTH,
    TITLE_LENGTH,
    Invalid,
)

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# PostgreSQL stores no U+0000, and half a surrogate pair is no character anywhere.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

Reader = Callable[[str, Any], Any]


def checked(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool uses them.

    Raises:
        Invalid: one of them is missing, unknown or cannot be used.
    """
    properties: Mapping[str, Any] = schema["properties"]
    for name in arguments:
        if name not in properties:
            raise Invalid(
                f"{name!r} is no argument of this tool. It takes: {', '.join(properties)}."
            )
    for name in schema["required"]:
        if name not in arguments:
            raise Invalid(f"{name} is required.")
    return {name: READERS[name](name, value) for name, value in arguments.items()}


def _text(longest: int, *, shortest: int = 0) -> Reader:
    def read(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise Invalid(f"{name} must be a text.")
        if _UNSTORABLE.search(value):
            raise Invalid(f"{name} holds a character that cannot be stored.")
        stripped = value.strip()
        if len(stripped) < shortest:
            raise Invalid(f"{name} must not be empty.")
        if len(stripped) > longest:
            raise Invalid(f"{name} has {len(stripped)} characters; {longest} are the most.")
        return stripped

    return read


def _whole_number(lowest: int, highest: int) -> Reader:
    def read(name: str, value: Any) -> int:
        # JSON knows one kind of number, so 2.0 is a whole one; true is none.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Invalid(f"{name} must be a whole number.")
        if not lowest <= value <= highest:
            raise Invalid(f"{name} must be from {lowest} to {highest}.")
        return value

    return read


def _status(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in STATUSES:
        raise Invalid(f"{name} must be one of: {', '.join(STATUSES)}.")
    return value


def _date(name: str, value: Any) -> str:
    try:
        if isinstance(value, str) and _DATE.fullmatch(value):
            return date.fromisoformat(value).isoformat()
    except ValueError:
        pass
    raise Invalid(f"{name} must be a day that exists, written YYYY-MM-DD.")


def _tags(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Invalid(f"{name} must be a list of texts.")
    if len(value) > MOST_TAGS:
        raise Invalid(f"{name} has {len(value)} entries; {MOST_TAGS} are the most.")
    # Said twice is said once; the order stays.
    return tuple(dict.fromkeys(_tag(f"{name}[{at}]", tag) for at, tag in enumerate(value)))


_tag: Final = _text(TAG_LENGTH, shortest=1)
READERS: Final[Mapping[str, Reader]] = {
    "todo_id": _whole_number(1, LARGEST_ID),
    "title": _text(TITLE_LENGTH, shortest=1),
    "description": _text(DESCRIPTION_LENGTH),
    "query": _text(QUERY_LENGTH, shortest=1),
    "priority": _whole_number(LOWEST_PRIORITY, HIGHEST_PRIORITY),
    "status": _status,
    "tags": _tags,
    "due_date": _date,
    "due_date_before": _date,
    "due_date_after": _date,
}
