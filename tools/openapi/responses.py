"""What an operation gives: which media types to ask for, and the schema of the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from tools.openapi.composing import LARGEST_SCHEMA, compose
from tools.openapi.definitions import Definitions
from tools.openapi.document import Document
from tools.openapi.faults import Unservable
from tools.openapi.media import JSON, bare, is_json, is_media_type
from tools.schemas import SchemaFault, compile_schema

MOST_TYPES: Final = 5
_FIRST: Final = ("200", "201", "202", "203", "206", "2XX", "2xx", "default")


def content_of(document: Document, responses: Mapping[str, Any]) -> Mapping[str, Any]:
    """Media types of the answer to a successful call; empty when it has none or is not readable."""
    for status in (*_FIRST, *sorted(key for key in responses if key.startswith("2"))):
        if status in responses:
            try:
                content = document.resolved(responses[status], "A response").get("content")
            except Unservable:
                continue
            if isinstance(content, Mapping) and content:
                return content
    return {}


def accepted(content: Mapping[str, Any]) -> str:
    """The `Accept` header: JSON where it is offered, else what is."""
    types = [one.strip() for one in content if is_media_type(one)]
    exact = [one for one in types if bare(one) == JSON]
    like = [one for one in types if is_json(one) and "*" not in one]
    if not types or exact or any("*" in one for one in types):
        return JSON
    return like[0] if like else ", ".join(types[:MOST_TYPES])


def output_schema(content: Mapping[str, Any], definitions: Definitions) -> dict[str, Any] | None:
    """The schema of a JSON answer that is an object and not too large to be announced; else None."""
    media = next((content[one] for one in content if is_json(str(one))), None)
    stated = media.get("schema") if isinstance(media, Mapping) else None
    if not isinstance(stated, Mapping):
        return None
    try:
        cleaned, _ = definitions.clean(stated)
        root = definitions.behind(cleaned)
        if not isinstance(root, Mapping) or not _is_object(root):
            return None
        root = {"type": "object", **root}
        room = LARGEST_SCHEMA - len(orjson.dumps(root))
        if room < 0 or definitions.reached(root, room)[1]:
            return None
        schema, _ = compose(root, definitions)
        compile_schema(schema)
    except (Unservable, SchemaFault):
        return None
    return schema


def _is_object(schema: Mapping[str, Any]) -> bool:
    return ("type" not in schema and "properties" in schema) or schema.get("type") == "object"
