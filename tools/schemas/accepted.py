"""Which schemas are accepted, and validators compiled from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote

import jsonschema_rs

from tools.schemas.wording import describe

DRAFT_2020_12: Final = "https://json-schema.org/draft/2020-12/schema"
DEEPEST_DEFINITION: Final = 20
# Never looked up: a name under which a schema can refer to parts of itself.
BASE: Final = "https://tool.invalid/schema"

Path = tuple[str, ...]


class Validator(Protocol):
    """A compiled schema."""

    def is_valid(self, instance: Any) -> bool: ...

    def iter_errors(self, instance: Any) -> Any: ...


class SchemaFault(ValueError):
    """A schema cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands for errors the library cannot put into words: half of a surrogate pair, deep nesting."""

    kind: _Kind = _Kind("unreadable")
    instance_path: Path = ()
    instance: Any = None
    message: str = "holds text that is not valid Unicode or is nested too deeply"


class _Compiled:
    """A validator that judges every instance and can list the errors of each."""

    __slots__ = ("_validator",)

    def __init__(self, validator: Validator) -> None:
        self._validator = validator

    def is_valid(self, instance: Any) -> bool:
        try:
            return self._validator.is_valid(instance)
        except ValueError:
            return False

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        try:
            yield from self._validator.iter_errors(instance)
        except ValueError:
            yield _Unreadable()


def _refuse(uri: str) -> Any:
    raise ValueError(f"references outside the schema are not followed: {uri}")


def is_modern(schema: Mapping[str, Any]) -> bool:
    """Whether `schema` says that it is 2020-12; it is Draft 7 otherwise."""
    return str(schema.get("$schema", "")).rstrip("#") == DRAFT_2020_12


def compile_schema(schema: Mapping[str, Any]) -> Validator:
    """A validator for `schema`.

    Raises:
        SchemaFault: when it is not valid JSON Schema or refers outside itself.
    """
    return _compile(dict(schema), modern=is_modern(schema))


def _compile(
    schema: dict[str, Any], *, modern: bool, registry: jsonschema_rs.Registry | None = None
) -> Validator:
    kind: Callable[..., Validator] = (
        jsonschema_rs.Draft202012Validator if modern else jsonschema_rs.Draft7Validator
    )
    try:
        compiled = kind(schema, retriever=_refuse, validate_formats=True, registry=registry)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as fault:
        raise SchemaFault(first_line(str(fault))) from fault
    return _Compiled(compiled)


def first_line(message: str) -> str:
    """The part of a validator's message that is meant for people."""
    return message.strip().splitlines()[0][:500] if message.strip() else "invalid"


def object_schema_faults(schema: Any) -> list[str]:
    """Why `schema` cannot describe a tool's arguments; empty when it can."""
    if not isinstance(schema, Mapping):
        return ["Must be a JSON object."]
    if schema.get("type") != "object":
        return ['The root must have "type": "object".']
    if not isinstance(schema.get("properties"), Mapping):
        return ['The root must have "properties" (it may be {}).']
    try:
        compile_schema(schema)
        return [message for _, message in default_faults(schema)]
    except (ValueError, jsonschema_rs.ReferencingError) as fault:
        return [f"Not a usable JSON Schema: {first_line(str(fault))}"]


def default_faults(schema: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Each default that its own definition refuses: the way to that definition, and a line on it.

    Raises:
        SchemaFault: the schema itself cannot be used.
    """
    with_default = [
        (path, label, definition["default"])
        for path, label, definition in _definitions(schema, (), (), DEEPEST_DEFINITION)
        if "default" in definition
    ]
    if not with_default:
        return
    modern = is_modern(schema)
    draft = jsonschema_rs.Draft202012 if modern else jsonschema_rs.Draft7
    registry = jsonschema_rs.Registry([(BASE, dict(schema))], draft=draft, retriever=_refuse)
    for path, label, default in with_default:
        steps = (part.replace("~", "~0").replace("/", "~1") for part in path)
        reference = f"{BASE}#" + "".join(f"/{quote(step, safe='~')}" for step in steps)
        validator = _compile({"$ref": reference}, modern=modern, registry=registry)
        error = next(iter(validator.iter_errors(default)), None)
        if error is not None:
            told = f"The default of {'.'.join(label)} is not valid: {describe(error).message}"
            yield path, told


def _definitions(
    schema: Any, path: Path, label: Path, depth: int
) -> Iterator[tuple[Path, Path, Mapping[str, Any]]]:
    """Each definition of a property at any depth: where it stands, its name for people, itself."""
    if not isinstance(schema, Mapping) or depth == 0:
        return
    for keyword in ("properties", "definitions", "$defs"):
        group = schema.get(keyword)
        for name, definition in group.items() if isinstance(group, Mapping) else ():
            if isinstance(definition, Mapping):
                place = (*path, keyword, name)
                yield place, (*label, name), definition
                yield from _definitions(definition, place, (*label, name), depth - 1)
    yield from _definitions(schema.get("items"), (*path, "items"), label, depth - 1)
