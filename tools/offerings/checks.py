"""Checks of single values: each gives a sentence on what is wrong, or nothing."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tools.offerings.placeholders import IDENTIFIER

ROLES: Final = ("user", "assistant")
MIME_PATTERN: Final = r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;[ -~]*)?\Z"
MOST_CHOICES: Final = 1000
LONGEST_CHOICE: Final = 200
_NAME: Final = re.compile(IDENTIFIER)
_MIME: Final = re.compile(MIME_PATTERN)

Check = Callable[[Any], str]


def object_faults(
    value: Any, where: str, required: Mapping[str, Check], optional: Mapping[str, Check]
) -> list[str]:
    """What is wrong with `value` as an object of these keys, one line per fault."""
    if not isinstance(value, dict):
        return [f"{where}: Must be an object."]
    faults = [f"{where}: Must have {key}." for key in required if key not in value]
    checks = {**optional, **required}
    for key, item in value.items():
        fault = checks[key](item) if key in checks else f"Not known; use {', '.join(checks)}."
        if fault:
            faults.append(f"{where}.{key}: {fault}")
    return faults


def anything(value: Any) -> str:
    """No rule at all."""
    return ""


def text_fault(value: Any) -> str:
    """Why `value` is no text, or nothing."""
    return "" if isinstance(value, str) else "Must be a text."


def flag_fault(value: Any) -> str:
    """Why `value` is no switch, or nothing."""
    return "" if isinstance(value, bool) else "Must be true or false."


def object_fault(value: Any) -> str:
    """Why `value` is no object, or nothing."""
    return "" if isinstance(value, dict) else "Must be an object."


def role_fault(value: Any) -> str:
    """Why nobody speaks as `value`, or nothing."""
    return "" if value in ROLES else "Must be user or assistant."


def size_fault(value: Any) -> str:
    """Why `value` is no size, or nothing."""
    return "" if type(value) is int and value >= 0 else "Must be a number of bytes."


def identifier_fault(value: Any) -> str:
    """Why `value` cannot name an argument, or nothing."""
    fits = isinstance(value, str) and _NAME.fullmatch(value)
    return "" if fits else "Must be letters, digits and underscores, at most 64."


def mime_fault(value: Any) -> str:
    """Why `value` is no media type, or nothing."""
    fits = isinstance(value, str) and _MIME.fullmatch(value)
    return "" if fits else "Must be a media type such as image/png."


def base64_fault(value: Any) -> str:
    """Why `value` is not base64, or nothing."""
    try:
        fits = isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        fits = False
    return "" if fits else "Must be base64."


def choices_fault(value: Any) -> str:
    """Why `value` cannot be a list of suggested values, or nothing."""
    fits = (
        isinstance(value, list)
        and len(value) <= MOST_CHOICES
        and all(isinstance(item, str) and 0 < len(item) <= LONGEST_CHOICE for item in value)
        and len(set(value)) == len(value)
    )
    return "" if fits else f"Must be a list of different texts of 1 to {LONGEST_CHOICE} characters."


def annotations_fault(value: Any) -> str:
    """Why `value` cannot be a block's annotations, or nothing."""
    checks = {"audience": audience_fault, "priority": priority_fault, "lastModified": text_fault}
    return " ".join(object_faults(value, "annotations", {}, checks))


def audience_fault(value: Any) -> str:
    """Why `value` does not say whom something is for, or nothing."""
    fits = isinstance(value, list) and all(item in ROLES for item in value)
    return (
        "" if fits and len(set(value)) == len(value) else 'Must be a list of "user", "assistant".'
    )


def priority_fault(value: Any) -> str:
    """Why `value` is no priority, or nothing."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if number and 0 <= value <= 1 else "Must be a number from 0 to 1."
