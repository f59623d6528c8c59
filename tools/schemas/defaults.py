"""Brings schemas into shape and fills the defaults they name into arguments."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

DEEPEST_DEFAULT: Final = 20
MOST_HOPS: Final = 10


def normalise(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with a `required: true` inside a property moved to the `required` list around it.

    Some sources mark required arguments that way, which is not JSON Schema; a missing
    `properties` becomes `{}`. The original is not changed.
    """
    result = _with_required_lists(schema, DEEPEST_DEFAULT)
    result.setdefault("type", "object")
    result.setdefault("properties", {})
    return result


def _with_required_lists(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    result = dict(schema)
    if isinstance(result.get("required"), bool):
        del result["required"]
    if depth == 0:
        return result
    properties = result.get("properties")
    if isinstance(properties, Mapping):
        marked = [
            name
            for name, definition in properties.items()
            if isinstance(definition, Mapping) and definition.get("required") is True
        ]
        result["properties"] = {
            name: _with_required_lists(definition, depth - 1)
            if isinstance(definition, Mapping)
            else definition
            for name, definition in properties.items()
        }
        listed = result.get("required", [])
        if marked and isinstance(listed, list):
            result["required"] = list(dict.fromkeys([*listed, *marked]))
    if isinstance(result.get("items"), Mapping):
        result["items"] = _with_required_lists(result["items"], depth - 1)
    return result


def fill_defaults(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `arguments` in which absent properties have their default.

    Objects within them, in lists too, are completed likewise. A default is put in as it is
    written: nothing is filled into it, or a schema that refers to itself would never end.
    """
    return _filled(schema, schema, arguments, DEEPEST_DEFAULT)


def _filled(
    root: Mapping[str, Any], schema: Mapping[str, Any], arguments: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    result = dict(arguments)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return result
    for name, raw in properties.items():
        definition = resolved(root, raw)
        if name in result:
            result[name] = _completed(root, definition, result[name], depth)
        elif "default" in definition:
            result[name] = copy.deepcopy(definition["default"])
    return result


def _completed(
    root: Mapping[str, Any], definition: Mapping[str, Any], value: Any, depth: int
) -> Any:
    if depth == 0:
        return value
    if isinstance(value, Mapping) and "properties" in definition:
        return _filled(root, definition, value, depth - 1)
    if isinstance(value, list) and "items" in definition:
        items = resolved(root, definition["items"])
        if "properties" in items or "items" in items:
            return [_completed(root, items, item, depth - 1) for item in value]
    return value


def resolved(root: Mapping[str, Any], definition: Any) -> Mapping[str, Any]:
    """`definition` with what its local `$ref` points to; what stands beside the `$ref` goes first."""
    if not isinstance(definition, Mapping):
        return {}
    if "$ref" not in definition:
        return definition
    result: dict[str, Any] = {}
    for _ in range(MOST_HOPS):
        if not isinstance(definition, Mapping):
            break
        result = {**definition, **result}
        reference = definition.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        definition = _at(root, reference[1:])
    return result


def _at(root: Any, fragment: str) -> Any:
    """What a JSON pointer written as a fragment leads to; None when there is nothing."""
    target = root
    for part in unquote(fragment).split("/")[1:]:
        if isinstance(target, list) and part.isdecimal() and int(part) < len(target):
            target = target[int(part)]
            continue
        if not isinstance(target, Mapping):
            return None
        target = target.get(part.replace("~1", "/").replace("~0", "~"))
    return target
