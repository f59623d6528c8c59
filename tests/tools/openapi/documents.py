"""Small documents for tests, and their operations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.openapi import Imported, ImportedOperation, operations, read_document
from tools.schemas import compile_schema, object_schema_faults

JSON = "application/json"


def document(paths: Any, version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """A whole document around `paths`."""
    return {
        "openapi": version,
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": paths,
        **more,
    }


def imported(stated: Any, **options: Any) -> Imported:
    """What is read from a document given as JSON values."""
    return operations(read_document(json.dumps(stated)), **options)


def only(stated: Any, **options: Any) -> ImportedOperation:
    """The one operation of a document; its schema is sound."""
    found = imported(stated, **options)
    assert not found.refused, found.refused
    (operation,) = found.operations
    assert object_schema_faults(operation.input_schema) == []
    if operation.output_schema is not None:
        compile_schema(operation.output_schema)
    return operation


def refusal(stated: Any) -> str:
    """Why the one operation of a document was refused."""
    found = imported(stated)
    assert not found.operations
    (refused,) = found.refused
    return refused.reason


def with_body(schema: Any, *, media: str = JSON, required: bool = True, **more: Any) -> Any:
    """A document whose one operation takes a body."""
    body = {"required": required, "content": {media: {"schema": schema}}}
    return document({"/pets": {"post": {"requestBody": body}}}, **more)


def with_schemas(schema: Any, version: Any = "3.1.0", **schemas: Any) -> Any:
    """A document whose one operation takes `schema` in a list, so that it stays as it is."""
    wrapped = {"type": "array", "items": schema}
    return with_body(wrapped, version=version, components={"schemas": schemas})


def ref(name: str) -> dict[str, str]:
    """A reference to one of the document's schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def with_parameters(*parameters: Any, path: str = "/pets", **more: Any) -> Any:
    """A document whose one operation takes parameters."""
    return document({path: {"get": {"parameters": list(parameters)}}}, **more)


def item(operation: ImportedOperation) -> Any:
    """The schema inside the list that `with_schemas` made, its definition followed."""
    found = operation.input_schema["properties"]["body"]["items"]
    if isinstance(found, Mapping) and "$ref" in found:
        return operation.input_schema["$defs"][found["$ref"].removeprefix("#/$defs/")]
    return found


def accepts(operation: ImportedOperation, arguments: Any) -> bool:
    """Whether the tool's schema accepts `arguments`."""
    return compile_schema(operation.input_schema).is_valid(arguments)
