"""Text to document: JSON or YAML, within limits, and a fault that says what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from tools.openapi.document import Document
from tools.openapi.faults import DocumentFault
from tools.openapi.yaml_text import parse_yaml

LARGEST_DOCUMENT: Final = 20_000_000
# Enough for every published document that was tried; the walkers below recurse.
DEEPEST: Final = 100
# A text that looks like JSON and is not may still be YAML; reading a large one as such takes long.
LARGEST_SECOND_TRY: Final = 1_000_000
_KNOWN: Final = re.compile(r"(2\.0|3\.[012])(\.\d+)?(-[\w.]+)?")
_NUL: Final = "\x00"
# Themselves, or an escape that may stand for one: the walk is saved where there is none.
_UNKEEPABLE: Final = re.compile(r"\\(?:u0000|0|x00|ud[89a-f]|U)|[\x00\ud800-\udfff]", re.IGNORECASE)


def read_document(text: str | bytes) -> Document:
    """The API document in `text`, JSON or YAML.

    Raises:
        DocumentFault: it cannot be used; the message says why and what to do.
    """
    root = _parsed(_decoded(text))
    if not isinstance(root, Mapping):
        raise DocumentFault("The document is not an object. Give a whole OpenAPI document.")
    if (depth := _depth(root)) > DEEPEST:
        raise DocumentFault(
            f"The document is nested {depth} levels deep; at most {DEEPEST} are read."
        )
    return Document(root=root, version=_version(root))


def _decoded(text: str | bytes) -> str:
    if len(text) > LARGEST_DOCUMENT:
        raise DocumentFault(
            f"The document has {len(text):,} bytes; at most {LARGEST_DOCUMENT:,} are read. "
            "Import a part of it, or one without its references resolved."
        )
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise DocumentFault("The document is not UTF-8 text. Save it as UTF-8.") from fault


def _parsed(text: str) -> Any:
    start = text.lstrip()[:200]
    if not start:
        raise DocumentFault("The document is empty. Give an OpenAPI document as JSON or YAML.")
    if start.startswith("<"):
        raise DocumentFault(
            "This is a web page or XML. Give the address of the OpenAPI document itself, "
            "which often ends in openapi.json or openapi.yaml."
        )
    if not start.startswith(("{", "[")):
        return _without_nul(parse_yaml(text, DEEPEST), text)
    try:
        return _without_nul(orjson.loads(text), text)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as fault:
        if len(text) <= LARGEST_SECOND_TRY:
            try:
                return _without_nul(parse_yaml(text, DEEPEST), text)
            except DocumentFault as second:
                if "not valid YAML" not in str(second):
                    raise
        raise DocumentFault(f"The text is not valid JSON: {fault}. Correct it.") from fault


def _without_nul(value: Any, text: str) -> Any:
    """`value` without NUL characters and halves of surrogate pairs, which no database keeps."""
    return _cleaned(value) if _UNKEEPABLE.search(text) else value


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_NUL, "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _depth(root: Any) -> int:
    """How deep objects and lists are nested, found level by level."""
    depth, level = 0, [root]
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, (dict, list))
        ]
    return depth


def _version(root: Mapping[str, Any]) -> str:
    stated = root.get("openapi", root.get("swagger"))
    if isinstance(stated, bool) or not isinstance(stated, (str, int, float)):
        raise DocumentFault(_not_openapi(root))
    version = f"{stated}.0" if isinstance(stated, int) else str(stated).strip()
    if not _KNOWN.fullmatch(version):
        raise DocumentFault(
            f"The document states version {version[:40]!r}. "
            "Give one of OpenAPI 3.0, 3.1 or 3.2, or of Swagger 2.0; convert others first."
        )
    return version


def _not_openapi(root: Mapping[str, Any]) -> str:
    others = {
        "asyncapi": "an AsyncAPI document",
        "swaggerVersion": "a Swagger 1 document",
        "item": "a Postman collection",
        "arazzo": "an Arazzo document",
        "$schema": "a JSON Schema",
    }
    kind = next((name for key, name in others.items() if key in root), "no OpenAPI document")
    return f'This is {kind}: there is no "openapi" or "swagger" with a version. Give an OpenAPI document.'
