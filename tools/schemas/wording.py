"""Faults in arguments, in words their sender can act on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

LONGEST_SHOWN_VALUE: Final = 200


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """What is wrong with one argument, in words its sender can act on."""

    parameter: str
    value: Any
    expected: str
    suggestion: str
    message: str


def describe(error: Any) -> ArgumentFault:
    """A validator's error as parameter, value, expected and suggestion.

    The message does not repeat the value: it may be a secret, and messages are logged.
    """
    path = [str(part) for part in error.instance_path]
    kind, detail, value = error.kind.name, error.kind.value, error.instance
    if kind in NAMES_A_PROPERTY:
        path.append(str(detail if isinstance(detail, str) else detail[0]))
        value = None
    expected = _shortened(_expectation(error))
    parameter = ".".join(path) or "arguments"
    message, suggestion = NAMES_A_PROPERTY.get(
        kind, (f"must be {expected}", f"Send {{}} as {expected}")
    )
    return ArgumentFault(
        parameter=parameter,
        value=shown(value),
        expected=expected,
        suggestion=suggestion.replace("{}", _shortened(parameter)),
        message=message,
    )


def _expectation(error: Any) -> str:
    kind, detail = error.kind.name, error.kind.value
    if kind in {"anyOf", "oneOf"}:
        branches = [_expectation(branch[0]) for branch in detail if branch]
        # Every branch without a fault means that too many of them fit.
        return (
            " or ".join(dict.fromkeys(branches)) or "a value that fits one form only, not several"
        )
    if kind == "propertyNames":
        return f"an object whose keys are each {_expectation(detail)}"
    words = EXPECTATIONS.get(kind)
    return words(detail) if words is not None else f"a value that satisfies {kind}"


def _types(detail: Any) -> str:
    names = detail if isinstance(detail, list) else [detail]
    return " or ".join(sorted(str(name) for name in names))


def _listed(values: Any) -> str:
    return ", ".join(_written(value) for value in values)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _some(number: int, noun: str, nouns: str) -> str:
    return f"{number} {noun if number == 1 else nouns}"


# What is wrong and what to do when an argument is missing or not known.
NAMES_A_PROPERTY: Final[Mapping[str, tuple[str, str]]] = {
    "required": ("is missing", "Add {}"),
    "additionalProperties": ("is not an argument of this tool", "Leave out {}"),
    "unevaluatedProperties": ("is not an argument of this tool", "Leave out {}"),
}

EXPECTATIONS: Final[Mapping[str, Callable[[Any], str]]] = {
    "required": lambda _: "a value",
    "additionalProperties": lambda _: "no such argument",
    "unevaluatedProperties": lambda _: "no such argument",
    "type": _types,
    "enum": lambda detail: f"one of {_listed(detail)}",
    "const": lambda detail: f"exactly {_written(detail)}",
    "minimum": lambda detail: f"a number of at least {detail}",
    "maximum": lambda detail: f"a number of at most {detail}",
    "exclusiveMinimum": lambda detail: f"a number above {detail}",
    "exclusiveMaximum": lambda detail: f"a number below {detail}",
    "multipleOf": lambda detail: f"a multiple of {detail}",
    "minLength": lambda detail: f"text of at least {_some(detail, 'character', 'characters')}",
    "maxLength": lambda detail: f"text of at most {_some(detail, 'character', 'characters')}",
    "minItems": lambda detail: f"a list of at least {_some(detail, 'item', 'items')}",
    "maxItems": lambda detail: f"a list of at most {_some(detail, 'item', 'items')}",
    "additionalItems": lambda detail: f"a list of at most {_some(detail, 'item', 'items')}",
    "unevaluatedItems": lambda _: "a list without further items",
    "uniqueItems": lambda _: "a list without repeated items",
    "contains": lambda _: "a list with the right number of items of the required kind",
    "minProperties": lambda detail: f"an object with at least {_some(detail, 'key', 'keys')}",
    "maxProperties": lambda detail: f"an object with at most {_some(detail, 'key', 'keys')}",
    "pattern": lambda detail: f"text that matches {detail}",
    "format": lambda detail: f"a valid {detail}",
    "not": lambda detail: f"anything but a value that fits {_written(detail)}",
    "falseSchema": lambda _: "left out",
    "unreadable": lambda _: "valid Unicode text and not nested too deeply",
}


def shown(value: Any) -> Any:
    """`value`, or its beginning when it is too long to repeat to the caller."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        # Beyond this a number is longer than the longest text that is shown.
        return value if value.bit_length() <= LONGEST_SHOWN_VALUE * 3 else "a very large number"
    if isinstance(value, str):
        return _shortened(value)
    try:
        return _shortened(json.dumps(value, ensure_ascii=False, default=str))
    except (ValueError, RecursionError):
        return "a value that cannot be shown"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN_VALUE else text[:LONGEST_SHOWN_VALUE] + "…"
