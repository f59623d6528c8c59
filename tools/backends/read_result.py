"""The built-in tool `read_result`: the whole of an answer that was shortened, page by page."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tools.contracts import Caller
from tools.errors import ErrorDetails, ExecutionFailed, InvalidArguments

CHARACTERS_PER_UNIT: Final = 400
PAGE_SIZE: Final = 20
LARGEST_PAGE: Final = 200
MOST_NAMES: Final = 20
LONGEST_NAME: Final = 60
UUID_PATTERN: Final = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)

Reader = Callable[[str, str], Awaitable[str | None]]

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "request_id": {
            "type": "string",
            "pattern": UUID_PATTERN,
            "description": "request_id of the answer that was shortened.",
        },
        "pointer": {
            "type": "string",
            "default": "",
            "maxLength": 2000,
            "description": "JSON pointer to the part to read, such as /records or /records/3/notes. "
            "Empty: the whole result.",
        },
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": "Page, from 1."},
        "page_size": {
            "type": "integer",
            "minimum": 1,
            "maximum": LARGEST_PAGE,
            "default": PAGE_SIZE,
            "description": "Items or keys per page; a text has 400 characters for each.",
        },
    },
    "required": ["request_id"],
    "additionalProperties": False,
}


async def read_result(
    arguments: Mapping[str, Any], caller: Caller, reader: Reader | None
) -> dict[str, Any]:
    """One page of a kept result of this caller.

    A list gives items, an object entries in the order they were written, a text a stretch of
    characters; other values come whole. A result that is no longer kept and one of another caller
    look the same.

    Raises:
        InvalidArguments: no such result, no such place in it, or no such page.
        ExecutionFailed: the result is nested too deeply.
    """
    request_id = str(arguments["request_id"]).lower()
    body = await reader(request_id, caller.identifier) if reader is not None else None
    if body is None:
        raise InvalidArguments(
            "No result is kept under this request_id",
            ErrorDetails(
                parameter="request_id",
                value=request_id,
                expected="the request_id of a recent answer to you that was shortened",
                suggestion="Call the tool again and use the request_id of its new answer",
            ),
        )
    pointer = arguments.get("pointer", "")
    page, size = int(arguments.get("page", 1)), int(arguments.get("page_size", PAGE_SIZE))
    return {"request_id": request_id, "pointer": pointer, **page_of(body, pointer, page, size)}


def page_of(body: str, pointer: str, page: int, size: int) -> dict[str, Any]:
    """One page of what `pointer` leads to in the JSON text `body`.

    Raises:
        InvalidArguments: no such place, or no such page.
        ExecutionFailed: the result is nested too deeply.
    """
    return _page(resolve(_parsed(body), pointer), page, size)


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise ExecutionFailed(
            "This result is nested too deeply to be read in pages",
            ErrorDetails(suggestion="Call the tool again and ask for less at once"),
        ) from None


def resolve(document: Any, pointer: str) -> Any:
    """The value `pointer` (RFC 6901) leads to.

    Raises:
        InvalidArguments: naming the nearest place that exists and what it holds.
    """
    if pointer and not pointer.startswith("/"):
        raise _no_such_place(pointer, "", document)
    reached = ""
    value = document
    for raw in pointer.split("/")[1:]:
        name = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            raise _no_such_place(pointer, reached, value)
        reached += "/" + raw
    return value


def _no_such_place(pointer: str, reached: str, value: Any) -> InvalidArguments:
    where = reached or "the whole result (the empty pointer)"
    available: tuple[str, ...] | None = None
    if isinstance(value, dict):
        available = tuple(f"{reached}/{_escaped(key)}" for key in islice(value, MOST_NAMES))
        content = f"an object with {len(value)} keys"
    elif isinstance(value, list):
        content = f"a list of {len(value)} items, numbered from 0" if value else "an empty list"
    else:
        content = f"a single {_kind(value)}"
    return InvalidArguments(
        f"Nothing is at {_short(pointer)} in this result",
        ErrorDetails(
            parameter="pointer",
            value=_short(pointer),
            expected="a JSON pointer into the result: empty, or names each preceded by /",
            suggestion=f"The nearest place that exists is {_short(where)}, {content}",
            available=available,
        ),
    )


def _page(value: Any, page: int, size: int) -> dict[str, Any]:
    if isinstance(value, list):
        span = _Span.of(len(value), page, size)
        return {"kind": "list", "items": value[span.start : span.stop], **span.shown}
    if isinstance(value, dict):
        span = _Span.of(len(value), page, size)
        entries = dict(islice(value.items(), span.start, span.stop))
        return {"kind": "object", "entries": entries, **span.shown}
    if isinstance(value, str):
        span = _Span.of(len(value), page, size * CHARACTERS_PER_UNIT)
        return {"kind": "text", "text": value[span.start : span.stop], **span.shown}
    return {"kind": _kind(value), "value": value}


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a page begins and ends, and what the caller is told about it."""

    start: int
    stop: int
    shown: Mapping[str, int]

    @classmethod
    def of(cls, total: int, page: int, size: int) -> _Span:
        pages = max(1, -(-total // size))
        if page > pages:
            raise InvalidArguments(
                f"There is no page {page}",
                ErrorDetails(
                    parameter="page",
                    value=page,
                    expected=f"a page from 1 to {pages}",
                    suggestion=f"The last page is {pages}",
                ),
            )
        start = (page - 1) * size
        shown = {"total": total, "page": page, "page_size": size, "pages": pages}
        return cls(start, start + size, shown)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _escaped(name: str) -> str:
    return _short(name.replace("~", "~0").replace("/", "~1"))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[:LONGEST_NAME] + "…"
