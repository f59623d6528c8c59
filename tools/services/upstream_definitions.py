"""What rows of the catalogue take over from the definitions of upstream servers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from tools.offerings import MIME_PATTERN, priority_fault
from tools.services.upstream_schemas import usable_input, usable_output
from tools.upstreams.findings import Finding
from tools.upstreams.pinning import PINNED_KEYS, Kind

LONGEST_TITLE: Final = 200
LONGEST_NAME: Final = 200
MOST_TAGS: Final = 50
MOST_METADATA: Final = 65_536
LARGEST_DEFINITION: Final = 512 * 1024
TOO_LARGE: Final = "The definition is larger than 512 KiB."
DEEPEST: Final = 30

Fields = dict[str, Any]


def storable(value: Any, depth: int = DEEPEST) -> Any:
    """`value` as every database keeps it: without NUL, halves of surrogate pairs, NaN, endless depth."""
    if isinstance(value, str):
        return (
            value.encode("utf-16-le", "surrogatepass")
            .decode("utf-16-le", "replace")
            .replace("\0", "\ufffd")
        )
    if isinstance(value, Mapping):
        if not depth:
            return {}
        return {storable(str(key)): storable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item, depth - 1) for item in value] if depth else []
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, int | float | None) else str(value)


def unpinned(kind: Kind, definition: Mapping[str, Any]) -> Fields:
    """The part of a definition that may change unseen: `_meta`, icons, annotations of resources."""
    rest = {key: value for key, value in definition.items() if key not in PINNED_KEYS[kind]}
    kept: Fields = storable(rest)
    if len(json.dumps(kept)) <= MOST_METADATA:
        return kept
    meta = {key: value for key, value in kept.items() if key == "_meta"}
    return meta if len(json.dumps(meta)) <= MOST_METADATA else {}


def tool_fields(
    definition: Mapping[str, Any], rest: Mapping[str, Any], fallback: str
) -> tuple[Fields, list[Finding]]:
    """What a tool takes over, and what had to be changed. `fallback` describes one without a text."""
    arguments, findings = usable_input(definition.get("inputSchema"))
    result, more = usable_output(definition.get("outputSchema"))
    hints = _mapping(definition.get("annotations"))
    read_only = hints.get("readOnlyHint") is True
    fields = {
        "title": _text(definition.get("title") or hints.get("title"))[:LONGEST_TITLE],
        "description": _text(definition.get("description")).strip() or fallback,
        "input_schema": arguments,
        "output_schema": result,
        "read_only": read_only,
        # Servers that say both mean the first: what changes nothing destroys nothing.
        "destructive": hints.get("destructiveHint") is True and not read_only,
        "idempotent": hints.get("idempotentHint") is True,
        "tags": _tags(_mapping(rest.get("_meta"))),
        "metadata": _metadata(rest, hints),
        "requires_context_management": result is None,
    }
    return storable(fields), [*findings, *more]


def prompt_fields(definition: Mapping[str, Any]) -> tuple[Fields, list[Finding]]:
    """What a prompt takes over, and what had to be left out."""
    arguments: dict[str, Fields] = {}
    findings = []
    listed = definition.get("arguments")
    for argument in listed if isinstance(listed, list) else []:
        name = argument.get("name") if isinstance(argument, Mapping) else None
        if not isinstance(name, str) or not name or name in arguments:
            findings.append(
                Finding("schema", "arguments", "One without a name of its own is left out.")
            )
            continue
        texts = {key: _text(argument.get(key)) for key in ("title", "description")}
        arguments[name] = {"name": name, **texts, "required": argument.get("required") is True}
    fields = {**_titles(definition), "arguments": list(arguments.values())}
    return storable(fields), findings


def resource_fields(
    kind: Kind, definition: Mapping[str, Any], rest: Mapping[str, Any]
) -> tuple[Fields, list[Finding]]:
    """What a resource or a template takes over, and what had to be left out."""
    findings = []
    media = _text(definition.get("mimeType"))
    if media and not re.match(MIME_PATTERN, media):
        findings.append(
            Finding("schema", "mimeType", f"{media[:100]!r} is no media type; it is left out.")
        )
        media = ""
    uri = _text(definition.get("uriTemplate" if kind is Kind.TEMPLATE else "uri"))
    hints = _mapping(rest.get("annotations"))
    audience, priority = hints.get("audience"), hints.get("priority")
    listed = audience if isinstance(audience, list) else []
    fields = {
        **_titles(definition),
        "uri": uri,
        "is_template": kind is Kind.TEMPLATE,
        "name": " ".join(_text(definition.get("name")).split())[:LONGEST_NAME].strip()
        or uri[:LONGEST_NAME],
        "mime_type": media[:LONGEST_NAME],
        "audience": [role for role in ("user", "assistant") if role in listed],
        "priority": None if priority_fault(priority) else priority,
    }
    return storable(fields), findings


def _titles(definition: Mapping[str, Any]) -> Fields:
    return {
        "title": _text(definition.get("title"))[:LONGEST_TITLE],
        "description": _text(definition.get("description")),
    }


def _tags(meta: Mapping[str, Any]) -> list[str]:
    """Tags as servers write them: in `_meta` itself, or where FastMCP puts them."""
    for holder in (meta, _mapping(meta.get("fastmcp")), _mapping(meta.get("_fastmcp"))):
        tags = holder.get("tags")
        if isinstance(tags, list):
            texts = [tag[:100] for tag in tags if isinstance(tag, str) and tag.strip()]
            return list(dict.fromkeys(texts))[:MOST_TAGS]
    return []


def _metadata(rest: Mapping[str, Any], hints: Mapping[str, Any]) -> Fields:
    """`_meta` but for the tags, beside what else a client may want to know."""
    meta = {key: value for key, value in _mapping(rest.get("_meta")).items() if key != "tags"}
    others = {key: rest[key] for key in ("icons", "execution") if key in rest}
    return {**meta, **others, **({"annotations": dict(hints)} if hints else {})}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
