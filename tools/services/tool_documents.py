"""Tools as parts of a configuration document, and what such a part must look like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from django.db import models

from tools.conf import value_faults
from tools.context.redact import REDACTED, SECRET_NAME, redact, redact_text
from tools.models import Tool

OWN: Final = frozenset({"id", "created_at", "updated_at"})
FIELDS: Final = {field.name: field for field in Tool._meta.concrete_fields if field.name not in OWN}
NEEDED: Final = ("name", "description", "input_schema", "source", "handler")
# Written even when they are at their default.
ALWAYS: Final = (*NEEDED, "enabled")
SCHEMAS: Final = ("input_schema", "output_schema")
_VALUES: Final = ("default", "const", "enum", "examples")
_KINDS: Final = (
    (models.BooleanField, bool, "true or false"),
    (models.IntegerField, int, "a whole number"),
    (models.CharField, str, "text"),
    (models.TextField, str, "text"),
)


def values_of(tool: Tool) -> dict[str, Any]:
    """Everything that defines `tool`."""
    return {name: getattr(tool, name) for name in FIELDS}


def to_entry(tool: Tool) -> dict[str, Any]:
    """`tool` as it is written into a document: no secrets, and no optional field at its default."""
    shown = without_secrets(values_of(tool))
    return {
        name: value
        for name, value in shown.items()
        if name in ALWAYS or not same(value, FIELDS[name].get_default())
    }


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` of a tool with `[redacted]` where one is, by its name or by its look."""
    return {
        name: _schema(value, secret=False) if name in SCHEMAS else redact(value)
        for name, value in values.items()
    }


def _schema(value: Any, *, secret: bool) -> Any:
    """An argument may be called `token`; it is what it would hold by itself that is a secret."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [_schema(one, secret=secret) for one in value]
    if not isinstance(value, Mapping):
        return value
    shown: dict[str, Any] = {}
    for name, inner in value.items():
        if secret and name in _VALUES and inner not in (None, ""):
            shown[name] = REDACTED
        elif name in _VALUES:
            # No schema any more, but what arguments would hold.
            shown[name] = redact(inner)
        elif name == "properties" and isinstance(inner, Mapping):
            shown[name] = {
                key: _schema(one, secret=bool(SECRET_NAME.search(str(key))))
                for key, one in inner.items()
            }
        else:
            shown[name] = _schema(inner, secret=secret)
    return shown


def entry_faults(entry: Any) -> list[str]:
    """What is wrong with the shape of an entry: missing and unknown fields, values of another kind."""
    if not isinstance(entry, Mapping):
        return ["must be a mapping of fields to values"]
    faults = [f"{name} is missing" for name in NEEDED if name not in entry]
    for name, value in entry.items():
        if name not in FIELDS:
            faults.append(f"{str(name)[:80]!r} is not a field; known: {', '.join(FIELDS)}")
        elif fault := _kind_fault(FIELDS[name], value):
            faults.append(f"{name} {fault}")
        else:
            faults += value_faults(value, name)
    return faults


def _kind_fault(field: Any, value: Any) -> str:
    # Django would make text of a list and a whole number of 1.5, and say nothing.
    if value is None and field.null:
        return ""
    for kind, wanted, words in _KINDS:
        if isinstance(field, kind):
            fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
            return "" if fits else f"must be {words}, not {type(value).__name__}"
    return ""


def secret_faults(entry: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Fields in which an export left a secret out, and nobody put one in."""
    return [
        f"{name} holds {REDACTED}, where an export left a secret out: write it in, or take it away"
        for name, value in entry.items()
        if name not in before and REDACTED in _text(value)
    ]


def unchanged(entry: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    """The fields of `entry` that are just as an export would write those of `tool`."""
    now = values_of(tool)
    shown = without_secrets(now)
    return {name: now[name] for name in entry if same(entry[name], shown[name])}


def same(one: Any, other: Any) -> bool:
    # As JSON, because Python takes true for 1.
    return _text(one) == _text(other)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
