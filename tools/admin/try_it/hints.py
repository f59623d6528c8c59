"""What a schema says about one value: attributes for its control, and words for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final = {"date": "date", "email": "email", "uri": "url", "time": "text"}
_SAMPLES: Final = {
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "uri": "https://example.com/",
    "email": "somebody@example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def line_attributes(schema: Mapping[str, Any]) -> dict[str, str]:
    """Of a line of text. Patterns are judged by the service: browsers read them otherwise."""
    wanted = str(schema.get("format") or "")
    found = {"type": _TYPES.get(wanted, "text")}
    if wanted in _SAMPLES:
        found["placeholder"] = _SAMPLES[wanted]
    return found | length_attributes(schema)


def length_attributes(schema: Mapping[str, Any]) -> dict[str, str]:
    most = schema.get("maxLength")
    return {"maxlength": str(most)} if isinstance(most, int) and most > 0 else {}


def number_attributes(schema: Mapping[str, Any]) -> dict[str, str]:
    """Of a number: its range and its steps."""
    whole = schema.get("type") == "integer"
    least, most = _whole_range(schema) if whole else _range_of(schema)
    step = _number(schema, "multipleOf")
    # Browsers count steps from the least value.
    if not step or step < 0 or (least is not None and least % step):
        step = 1 if whole else None
    found = {"type": "number", "step": "any" if step is None else _written(step)}
    if least is not None:
        found["min"] = _written(least)
    if most is not None:
        found["max"] = _written(most)
    return found


def _range_of(schema: Mapping[str, Any]) -> tuple[float | None, float | None]:
    return _number(schema, "minimum"), _number(schema, "maximum")


def _whole_range(schema: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The least and the greatest whole number that may be sent."""
    least, most = _range_of(schema)
    if least is not None:
        least = math.ceil(least)
    elif (above := _number(schema, "exclusiveMinimum")) is not None:
        least = math.floor(above) + 1
    if most is not None:
        most = math.floor(most)
    elif (below := _number(schema, "exclusiveMaximum")) is not None:
        most = math.ceil(below) - 1
    return least, most


def words(schema: Mapping[str, Any]) -> str:
    """The description, then the limits that no control shows by itself."""
    said = [str(schema.get("description") or "").strip()]
    said.append(_range(schema, ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")))
    said.append(_counted(schema, "minLength", "maxLength", "character"))
    said.append(_counted(schema, "minItems", "maxItems", "row"))
    if "multipleOf" in schema:
        said.append(f"In steps of {_written(schema['multipleOf'])}")
    if schema.get("pattern"):
        said.append(f"Must match {schema['pattern']}")
    if schema.get("format"):
        said.append(f"Format: {schema['format']}")
    if "default" in schema:
        said.append(f"Default: {_written(schema['default'])}")
    return " ".join(f"{one.rstrip('.')}." for one in said if one)


def _range(schema: Mapping[str, Any], least: tuple[str, str], most: tuple[str, str]) -> str:
    parts = []
    for (plain, strict), word, strictly in (
        (least, "at least", "above"),
        (most, "at most", "below"),
    ):
        if _number(schema, plain) is not None:
            parts.append(f"{word} {_written(schema[plain])}")
        elif _number(schema, strict) is not None:
            parts.append(f"{strictly} {_written(schema[strict])}")
    return ", ".join(parts).capitalize()


def _counted(schema: Mapping[str, Any], least: str, most: str, noun: str) -> str:
    low, high = _number(schema, least), _number(schema, most)
    if low and low == high:
        return f"Exactly {_written(low)} {noun}{'' if low == 1 else 's'}"
    if low and high is not None:
        return f"{_written(low)} to {_written(high)} {noun}s"
    if low:
        return f"At least {_written(low)} {noun}{'' if low == 1 else 's'}"
    return f"At most {_written(high)} {noun}{'' if high == 1 else 's'}" if high is not None else ""


def _number(schema: Mapping[str, Any], name: str) -> float | None:
    value = schema.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
