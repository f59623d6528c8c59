"""Whole results of shortened answers as resources: `result://<request_id>`.

Without a query the whole result is read; `?pointer=/records&page=2&page_size=50` reads what the
tool `read_result` gives for the same arguments. A result that is no longer kept and one of
another caller look the same.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tools.backends.read_result import LARGEST_PAGE, PAGE_SIZE, page_of
from tools.contracts import Caller, ResourceSpec
from tools.errors import ErrorDetails, InvalidArguments, ResourceNotFound
from tools.guards.kept_results import KeptResults
from tools.offerings import RESULT_SCHEME
from tools.schemas import shown

JSON: Final = "application/json"
PARAMETERS: Final = ("pointer", "page", "page_size")
RESULT_TEMPLATE: Final = ResourceSpec(
    uri=f"{RESULT_SCHEME}://{{request_id}}",
    name="kept_result",
    title="Whole result of a shortened answer",
    description=(
        "The whole of an earlier answer to you that was shortened, by its request_id. Add "
        "?pointer=/a/b&page=2 to read a part of it page by page."
    ),
    mime_type=JSON,
    is_template=True,
    variables=("request_id",),
)


async def read_kept(uri: str, caller: Caller, kept: KeptResults) -> dict[str, Any]:
    """The kept result at `uri`, whole or in pages.

    Raises:
        ResourceNotFound: nothing is kept there for this caller.
        InvalidArguments: no such place in the result, no such page, or a query not understood.
    """
    request_id, query = _parts(uri)
    asked = _asked(query)
    body = await kept.read(request_id, caller.identifier) if request_id else None
    if body is None:
        raise ResourceNotFound(
            f"Resource not found: {uri[:128]}",
            ErrorDetails(
                parameter="uri",
                value=uri[:128],
                expected=f"{RESULT_SCHEME}://<request_id> of a recent answer to you that was shortened",
                suggestion="Call the tool again and use the request_id of its new answer",
            ),
        )
    if not query:
        return {"uri": uri, "mimeType": JSON, "text": body}
    # A large body takes a while to parse, and other calls are waiting.
    text = await asyncio.to_thread(_page, body, request_id, asked)
    return {"uri": uri, "mimeType": JSON, "text": text}


def _page(body: str, request_id: str, asked: dict[str, Any]) -> str:
    page = page_of(body, asked["pointer"], asked["page"], asked["page_size"])
    return json.dumps(
        {"request_id": request_id, "pointer": asked["pointer"], **page}, ensure_ascii=False
    )


def _parts(uri: str) -> tuple[str, dict[str, str]]:
    """The id and the query of an address; no id where it is not one of ours."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "", {}
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    query = {unquote(name): unquote(value) for name, _, value in pairs}
    stray = parts.path.strip("/") or parts.fragment
    return ("" if stray else parts.netloc.lower()), query


def _asked(query: dict[str, str]) -> dict[str, Any]:
    for name, value in query.items():
        if name not in PARAMETERS:
            raise _refusal(name, value, f"only {', '.join(PARAMETERS)}")
    return {
        "pointer": query.get("pointer", ""),
        "page": _number(query, "page", 1, 10**9),
        "page_size": _number(query, "page_size", PAGE_SIZE, LARGEST_PAGE),
    }


def _number(query: dict[str, str], name: str, default: int, largest: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    number = (
        int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(largest)) else 0
    )
    if not 1 <= number <= largest:
        raise _refusal(name, text, f"a whole number from 1 to {largest}")
    return number


def _refusal(name: str, value: str, expected: str) -> InvalidArguments:
    return InvalidArguments(
        f"Invalid parameter: {name[:100]}",
        ErrorDetails(
            parameter=name[:100],
            value=shown(value),
            expected=expected,
            suggestion=f"Use an address such as {RESULT_SCHEME}://<request_id>?pointer=/a&page=2",
        ),
    )
