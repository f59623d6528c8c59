"""Values as OpenAPI's styles write them into paths, queries, headers and cookies. Pure.

No value can leave its place: everything that separates parts of an address is percent-encoded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from tools.operations import Parameter

Pairs = list[tuple[str, str]]
_Encode = Callable[[Any], str]

# What `allowReserved` leaves as it is, but for `&`, `#`, `+` and `%`, by which a value would become
# another parameter, the end of the query or another value.
_RESERVED: Final = ":/?[]@!$'()*,;="
_DELIMITERS: Final = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


class Unwritable(ValueError):
    """A value that has no form in its place; the message says which would do."""


def plain(value: Any) -> str:
    """A single value as text: as JSON has it, texts without quotation marks."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unwritable("a finite number")
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
    return as_json(value)


def as_json(value: Any) -> str:
    """`value` as compact JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise Unwritable("a value that JSON can express") from fault


def encoded(value: Any, *, reserved: bool = False) -> str:
    """A single value with everything percent-encoded that could end it."""
    text = plain(value)
    try:
        return quote(text, safe=_RESERVED if reserved else "")
    except UnicodeEncodeError as fault:
        raise Unwritable("text without halves of characters") from fault


def path_text(parameter: Parameter, value: Any) -> str:
    """`value` as a part of the path."""
    if parameter.media_type:
        return encoded(as_json(value))
    lead, separator = {"label": (".", "."), "matrix": (";", ";")}.get(
        parameter.written_as, ("", ",")
    )
    named = f"{encoded(parameter.name)}=" if parameter.written_as == "matrix" else ""
    between = separator if parameter.exploded else ","
    if isinstance(value, Mapping):
        if parameter.exploded:
            return lead + between.join(f"{key}={one}" for key, one in _members(value, encoded))
        return lead + named + ",".join(part for pair in _members(value, encoded) for part in pair)
    if isinstance(value, list | tuple):
        texts = [encoded(one) for one in _present(value)]
        if named and parameter.exploded:
            return lead + between.join(named + text for text in texts)
        return lead + named + between.join(texts)
    return lead + named + encoded(value)


def query_pairs(parameter: Parameter, value: Any) -> Pairs:
    """`value` as encoded pairs of the query; none for null."""

    def encode(one: Any) -> str:
        return encoded(one, reserved=parameter.allow_reserved)

    name = encoded(parameter.name)
    if value is None:
        return []
    if parameter.media_type:
        return [(name, encode(as_json(value)))]
    if not isinstance(value, Mapping | list | tuple):
        return [(name, encode(value))]
    if parameter.written_as == "deepObject":
        return [(encoded(key), encode(one)) for key, one in deep(parameter.name, value)]
    if isinstance(value, Mapping):
        pairs = _members(value, encode)
        texts = [part for pair in pairs for part in pair]
    else:
        texts = [encode(one) for one in _present(value)]
        pairs = [(name, text) for text in texts]
    if parameter.exploded or not texts:
        return pairs
    return [(name, _DELIMITERS.get(parameter.written_as, ",").join(texts))]


def deep(name: str, value: Any) -> list[tuple[str, Any]]:
    """`value` as single values by keys in brackets: `filter[size][min]`, `ids[]`."""
    if isinstance(value, Mapping):
        return [pair for key, one in value.items() for pair in deep(f"{name}[{key}]", one)]
    if isinstance(value, list | tuple):
        nested = any(isinstance(one, Mapping | list | tuple) for one in value)
        return [
            pair
            for place, one in enumerate(value)
            for pair in deep(f"{name}[{place if nested else ''}]", one)
        ]
    return [] if value is None else [(name, value)]


def header_text(parameter: Parameter, value: Any) -> str:
    """`value` as the value of a header. Unwritable for one that would begin another header."""
    if parameter.media_type:
        text = as_json(value)
    elif isinstance(value, Mapping):
        between = "=" if parameter.exploded else ","
        text = ",".join(f"{key}{between}{one}" for key, one in _members(value, plain))
    elif isinstance(value, list | tuple):
        text = ",".join(plain(one) for one in _present(value))
    else:
        text = plain(value)
    return checked_header(text)


def checked_header(text: str) -> str:
    """`text` without white space around it, if a header can hold it."""
    text = text.strip(" \t\r\n")
    if any(letter < " " and letter != "\t" for letter in text) or "\x7f" in text:
        raise Unwritable("text of a single line, without control characters")
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise Unwritable("text without halves of characters") from fault
    return text


def cookie_pairs(parameter: Parameter, value: Any) -> Pairs:
    """`value` as cookies."""
    return query_pairs(parameter, value)


def _members(value: Mapping[str, Any], write: _Encode) -> Pairs:
    return [(write(str(key)), write(one)) for key, one in value.items() if one is not None]


def _present(values: list[Any] | tuple[Any, ...]) -> list[Any]:
    return [one for one in values if one is not None]
