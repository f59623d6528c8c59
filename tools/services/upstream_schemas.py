"""Schemas of upstream tools, brought into a form that every client can use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.schemas import SchemaFault, compile_schema, normalise, object_schema_faults
from tools.upstreams.findings import Finding

HEADER_MARK: Final = "x-mcp-header"
_SIMPLE_TYPES: Final = frozenset(
    {"string", "number", "integer", "boolean", "array", "object", "null"}
)


def usable_input(schema: Any) -> tuple[dict[str, Any], list[Finding]]:
    """A schema of arguments that can be listed and checked, and what had to be changed for it.

    What cannot be mended is loosened: the server itself checks its arguments anyway.
    """
    if not isinstance(schema, Mapping):
        return _empty(), [
            _found("inputSchema", "Is not an object; arguments are not checked here.")
        ]
    findings: list[Finding] = []
    mended = dict(schema)
    if mended.get("type") != "object":
        if "type" in mended:
            findings.append(_found("inputSchema", 'The root is not "type": "object"; it is now.'))
        mended["type"] = "object"
    if not isinstance(mended.get("properties"), Mapping):
        mended["properties"] = {}
    if not isinstance(mended.get("required", []), list):
        del mended["required"]
        findings.append(_found("inputSchema", "required is not a list; it was left out."))
    mended = normalise(mended)
    for attempt in (mended, without(mended, HEADER_MARK), without(mended, HEADER_MARK, "default")):
        faults = object_schema_faults(attempt) or _header_faults(attempt)
        if not faults:
            return attempt, findings
        findings.append(_found("inputSchema", faults[0]))
    return _loosened(mended), findings


def usable_output(schema: Any) -> tuple[dict[str, Any] | None, list[Finding]]:
    """A schema of results that every client takes, or none; and why it was left out."""
    if schema is None:
        return None, []
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return None, [_found("outputSchema", 'The root is not "type": "object"; it is left out.')]
    try:
        compile_schema(schema)
    except SchemaFault as fault:
        return None, [_found("outputSchema", f"Is left out, it cannot be used: {fault}")]
    return dict(schema), []


def without(schema: Any, *keywords: str) -> Any:
    """`schema` with these keywords left out of every definition; properties keep their names."""
    if isinstance(schema, list):
        return [without(item, *keywords) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {}
    for key, value in schema.items():
        if key in {"properties", "$defs", "definitions"} and isinstance(value, Mapping):
            result[key] = {name: without(item, *keywords) for name, item in value.items()}
        elif key not in keywords:
            result[key] = value if key in {"enum", "const"} else without(value, *keywords)
    return result


def _loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The names, types and descriptions of the arguments, and nothing else."""
    properties = {
        str(name): _loose(definition)
        for name, definition in schema["properties"].items()
        if isinstance(name, str)
    }
    loose = {"type": "object", "properties": properties}
    return _empty() if object_schema_faults(loose) else loose


def _loose(definition: Any) -> dict[str, Any]:
    if not isinstance(definition, Mapping):
        return {}
    kept = {}
    if definition.get("type") in _SIMPLE_TYPES:
        kept["type"] = definition["type"]
    if isinstance(definition.get("description"), str):
        kept["description"] = definition["description"]
    return kept


def _header_faults(schema: Mapping[str, Any]) -> list[str]:
    """Marks of arguments that travel in headers are for the server's own clients."""
    return [f"{HEADER_MARK} is left out."] if HEADER_MARK in str(schema) else []


def _empty() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


def _found(where: str, text: str) -> Finding:
    return Finding("schema", where, text)
