"""JSON-RPC messages as bytes, and which of them answers a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from tools.backends.upstream.channel import Garbage, Message

# No answer, event or line may be longer.
MOST_BYTES: Final = 20 << 20
TOO_LARGE: Final = "its answer is larger than 20 MB"
DEEPEST: Final = 400
# Texts are matched as wholes, so that no bracket in one counts.
_BRACKETS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def encode(message: Message) -> bytes:
    """The message as one line of JSON, without its end."""
    try:
        return orjson.dumps(message)
    except TypeError:
        # Numbers beyond 64 bits and halves of characters, which JSON can write but orjson does not.
        return json.dumps(message, separators=(",", ":")).encode("ascii")


def decode(raw: bytes | bytearray | str) -> list[Message]:
    """The messages in one body, event or line: one, or the several of a batch.

    Raises:
        Garbage: it is not JSON-RPC.
    """
    try:
        read = orjson.loads(raw)
    except ValueError:
        read = _mended(raw)
    messages = read if isinstance(read, list) else [read]
    for message in messages:
        if not isinstance(message, dict):
            raise Garbage("it sent JSON that is no JSON-RPC message")
    return messages


def _mended(raw: bytes | bytearray | str) -> Any:
    """The value in JSON that has halves of characters, as texts have that were cut somewhere.

    Whoever gets it on from here could not write them; a question mark stands for each. What is
    nested too deeply is left out: one such definition must not hide all others of a list.

    Raises:
        Garbage: it is not JSON.
    """
    try:
        shallow = pruned(raw.encode() if isinstance(raw, str) else raw)
        whole = json.dumps(json.loads(shallow), ensure_ascii=False).encode("utf-8", "replace")
        return orjson.loads(whole)
    except (ValueError, RecursionError):
        raise Garbage("it sent what is not JSON") from None


def pruned(raw: bytes | bytearray) -> bytes:
    """JSON with null in place of what is nested too deeply to be worked on."""
    kept: list[bytes] = []
    start = depth = 0
    for token in _BRACKETS.finditer(raw):
        mark = token[0][:1]
        if mark in b"[{":
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(bytes(raw[start : token.start()]))
        elif mark in b"]}":
            if depth == DEEPEST + 1:
                kept.append(b"null")
                start = token.end()
            depth -= 1
    return b"".join([*kept, bytes(raw[start:])]) if kept else bytes(raw)


def is_response(message: Message) -> bool:
    """Whether this answers a request, rather than asking or telling something."""
    return "method" not in message and ("result" in message or "error" in message)


def answers(message: Message, request_id: Any) -> bool:
    """Whether this is the answer to a request that has its answer channel to itself.

    A server that could not make out the request's id answers with an error that has none.
    """
    if not is_response(message):
        return False
    given = message.get("id")
    return given == request_id or (given is None and "error" in message)


def pick(raw: bytes, request_id: Any, tell: Callable[[Message], None]) -> Message | None:
    """The answer to the request in `raw`, if it is there; notices and requests are told.

    Raises:
        Garbage: it is not JSON-RPC.
    """
    found: Message | None = None
    for message in decode(raw):
        if found is None and answers(message, request_id):
            found = message
        elif not is_response(message):
            tell(message)
    return found
