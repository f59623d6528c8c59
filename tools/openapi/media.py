"""Media types: which of those offered is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeGuard

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
MERGE_PATCH: Final = "application/merge-patch+json"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WRITTEN: Final = re.compile(r"[!-~]+/[!-~]+( *;[ -~]*)?")


def is_media_type(value: Any) -> TypeGuard[str]:
    """Whether `value` can stand in a header as a media type."""
    return isinstance(value, str) and _WRITTEN.fullmatch(value.strip()) is not None


def is_token(value: str) -> bool:
    """Whether `value` can be the name of a header or a cookie."""
    return _TOKEN.fullmatch(value) is not None


def bare(media_type: str) -> str:
    """The type without its parameters, in small letters."""
    return media_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Whether it is JSON, or a range that JSON is in."""
    kind = bare(media_type)
    return kind in {JSON, "text/json", "*/*", "application/*"} or kind.endswith("+json")


def is_text(media_type: str) -> bool:
    """Whether it is text that is not markup of its own rules."""
    kind = bare(media_type)
    return kind.startswith("text/") and kind not in {"text/xml", "text/event-stream"}


def preferred(offered: Iterable[Any]) -> str:
    """The type to send or ask for, JSON before forms before text; empty when none can be used."""
    types = [one for one in offered if is_media_type(one)]
    for fits in (
        lambda kind: bare(kind) == JSON,
        # Easier to write than a list of edits, where an API takes either.
        lambda kind: bare(kind) == MERGE_PATCH,
        is_json,
        lambda kind: bare(kind) == FORM,
        lambda kind: bare(kind) == MULTIPART,
        is_text,
    ):
        if found := next((kind for kind in types if fits(kind)), None):
            return found
    return ""


def sendable(media_type: str) -> str:
    """The type as it goes into a request: ranges become JSON."""
    return JSON if "*" in media_type else media_type.strip()


def is_file(schema: Any) -> bool:
    """Whether a cleaned schema stands for the bytes of a file, or a list of such."""
    if not isinstance(schema, Mapping):
        return False
    if is_file(schema.get("items")):
        return True
    if schema.get("format") == "binary":
        return True
    # OpenAPI 3.1 has no format for it: text of a media type that is not text, not encoded.
    kind = str(schema.get("contentMediaType", ""))
    return bool(kind) and "contentEncoding" not in schema and not (is_text(kind) or is_json(kind))
