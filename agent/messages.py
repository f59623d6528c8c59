"""Reads what a client of the HTTP surface asks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

LONGEST_MESSAGE: Final = 5000
LARGEST_BODY: Final = 64 * 1024
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}", re.ASCII)


class BadRequest(Exception):
    """A request that cannot be taken; the text says what it should be."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One message. Ids that were not given are made."""

    message: str
    request_id: str = ""
    thread_id: str = ""


def read_request(content_type: str, body: bytes) -> ChatRequest:
    """The request in a body.

    Raises:
        BadRequest: it is not one.
    """
    # A page in a browser cannot send this type to another origin without asking first.
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise BadRequest("Send the request as application/json.")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise BadRequest("The body is not JSON.") from fault
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as fault:
        # Half of a pair of surrogates: JSON can write it, UTF-8 cannot.
        raise BadRequest("The body has a text that cannot be written as UTF-8.") from fault
    if not isinstance(given, dict):
        raise BadRequest('The body has to be an object: {"message": "What can you do?"}')
    unknown = sorted(set(given) - {"message", "request_id", "thread_id"})
    if unknown:
        raise BadRequest(
            f"Unknown: {', '.join(unknown)}. There are message, request_id, thread_id."
        )
    return ChatRequest(
        _message(given.get("message")), _id(given, "request_id"), _id(given, "thread_id")
    )


def _message(given: Any) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_MESSAGE:
        raise BadRequest(f"message has to be a text of 1 to {LONGEST_MESSAGE} characters.")
    return given


def _id(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise BadRequest(f"{name} has to be 1 to 128 letters, digits, - and _.")
    return value
