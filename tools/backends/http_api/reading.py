"""Answers of APIs as JSON values, whatever they are written in and whatever they say they are."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tools.backends.http_api.markup import read_page, read_xml
from tools.backends.http_api.outgoing import Answer
from tools.backends.http_api.saying import hidden
from tools.backends.http_api.tables import read_rows
from tools.backends.http_api.unreadable import Unreadable
from tools.context.redact import REDACTED
from tools.pipelines.reading.encodings import decode, decode_as_is, looks_like_text

_PAGE: Final = re.compile(
    r"\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_LINES: Final = frozenset(
    [
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonlines",
        "application/json-lines",
        "application/json-seq",
        "application/stream+json",
    ]
)
_TEXTS: Final = frozenset(
    [
        "application/javascript",
        "application/x-javascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-www-form-urlencoded",
        "application/sql",
        "application/graphql",
    ]
)
# Servers that do not know, and those that never say.
_UNKNOWN: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_HUGE_EXPONENT: Final = re.compile(r"[0-9][eE]\+?[0-9]{3}")
# What some APIs put before JSON so that no page can run it as a script.
_GUARDS: Final = (")]}',", ")]}'", "while(1);", "for(;;);")
_HEAD: Final = ("content-type", "content-length", "last-modified", "etag", "location", "allow")


def read(answer: Answer, method: str, secrets: tuple[str, ...]) -> Any:
    """The answer's contents as a JSON value, without credentials that the API repeats.

    Raises:
        Unreadable: it is not what it says it is.
    """
    if method == "HEAD" or not answer.body.strip():
        known = {
            name: hidden(answer.headers[name], secrets) for name in _HEAD if name in answer.headers
        }
        return {"status": answer.status, **({"headers": known} if method == "HEAD" else {})}
    body = answer.body
    for secret in secrets:
        body = body.replace(secret.encode(), REDACTED.encode())
    return _reader(answer.media_type)(body, answer, method)


_Reader = Callable[[bytes, Answer, str], Any]


def _reader(kind: str) -> _Reader:
    if kind in {"application/json", "text/json"} or kind.endswith("+json") or kind in _LINES:
        return _json
    if kind.endswith(("/xml", "+xml")) and kind != "application/xhtml+xml":
        return _xml
    if kind in {"text/csv", "application/csv", "text/tab-separated-values"}:
        return _table
    if kind.startswith("text/") or kind in _TEXTS or kind == "application/xhtml+xml":
        return _text
    return _text_or_binary if kind in _UNKNOWN else _binary


def _json(body: bytes, answer: Answer, method: str) -> Any:
    text = decode_as_is(body, answer.charset)
    if answer.media_type in _LINES:
        return _lines(text)
    try:
        return _loads(text)
    except ValueError:
        if _PAGE.match(text):
            raise Unreadable("it says that it is JSON, but is a web page") from None
        return _lines(text)


def _loads(text: str) -> Any:
    """JSON, without what only looks like it: infinite numbers become null.

    Raises:
        ValueError: it is not JSON, or nested beyond all reason.
    """
    for guard in _GUARDS:
        text = text.removeprefix(guard)
    read_float = _finite if _HUGE_EXPONENT.search(text) else None
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=read_float)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _finite(written: str) -> float | None:
    number = float(written)
    return number if math.isfinite(number) else None


def _lines(text: str) -> list[Any]:
    """JSON values, one a line."""
    written = [line for line in text.replace("\x1e", "\n").split("\n") if line.strip()]
    try:
        if len(written) < 2 and not text.lstrip().startswith(("\x1e", "{", "[")):
            raise ValueError
        return [_loads(line) for line in written]
    except ValueError:
        raise Unreadable("it says that it is JSON, but is not") from None


def _xml(body: bytes, answer: Answer, method: str) -> Any:
    if (found := _if_json(body, answer)) is not None:
        return found
    if _PAGE.match(decode_as_is(body[:4096], answer.charset)):
        return _page(body, answer)
    return read_xml(body)


def _table(body: bytes, answer: Answer, method: str) -> Any:
    text = decode_as_is(body, answer.charset)
    if (found := _if_json(body, answer)) is not None:
        return found
    if _PAGE.match(text):
        raise Unreadable("it says that it is a table, but is a web page")
    rows = read_rows(text, tabs=answer.media_type == "text/tab-separated-values")
    return {"text": decode(body, answer.charset)} if rows is None else rows


def _text(body: bytes, answer: Answer, method: str) -> Any:
    """Text, or what it turns out to be."""
    if not looks_like_text(body):
        return _binary(body, answer, method)
    if (found := _if_json(body, answer)) is not None:
        return found
    text = decode_as_is(body, answer.charset)
    if answer.media_type in {"text/html", "application/xhtml+xml"} or _PAGE.match(text):
        return _page(body, answer)
    if text.lstrip().startswith("<?xml"):
        return read_xml(body)
    return {"text": decode(body, answer.charset)}


def _text_or_binary(body: bytes, answer: Answer, method: str) -> Any:
    return _text(body, answer, method)


def _if_json(body: bytes, answer: Answer) -> Any | None:
    """An object or a list, if that is what it is."""
    text = decode_as_is(body, answer.charset).strip()
    if text[:1] + text[-1:] not in {"{}", "[]"}:
        return None
    try:
        return _loads(text)
    except ValueError:
        return None


def _page(body: bytes, answer: Answer) -> Mapping[str, Any]:
    return read_page(body, answer.url)


def _binary(body: bytes, answer: Answer, method: str) -> Any:
    """What is known of contents that no model can read."""
    if (found := _if_json(body, answer)) is not None:
        return found
    known: dict[str, Any] = {
        "content_type": answer.media_type or "application/octet-stream",
        "bytes": len(answer.body),
        "sha256": hashlib.sha256(answer.body).hexdigest(),
    }
    if method == "GET" and answer.url:
        return {**known, "url": answer.url, "note": "Binary contents: they can be had at the url"}
    return {**known, "note": "Binary contents: they cannot be had by an address alone"}
