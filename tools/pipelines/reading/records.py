"""JSONL: every line is a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from tools.pipelines.reading.document import (
    Collector,
    ReadDocument,
    UnreadableDocument,
    plain_metadata,
)
from tools.pipelines.reading.encodings import decode_as_is

LONGEST_LINE: Final = 1_000_000
_TITLES: Final = ("title", "name", "headline", "heading")
_TEXTS: Final = ("text", "content", "contents", "body", "abstract", "passage")


def read_jsonl(content: bytes) -> ReadDocument:
    """Lines as records; a line that cannot be read is named and left out."""
    collector = Collector()
    bad = ""
    # Only a line feed ends a line: texts may hold the other characters that end lines.
    for number, line in enumerate(decode_as_is(content).split("\n"), start=1):
        if collector.full:
            break
        if not line.strip():
            continue
        try:
            _add(collector, _parsed(line))
        except ValueError as fault:
            bad = bad or f"Line {number}: {fault}"
            collector.notes.add(f"Line {number} was left out: {fault}")
    if collector.empty and bad:
        raise UnreadableDocument(f"No line could be read. {bad}")
    return collector.document()


def _parsed(line: str) -> Any:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it is longer than {LONGEST_LINE:,} characters.")
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        raise ValueError(f"it is not JSON ({fault.msg}).") from fault
    if not isinstance(value, str | dict) or not value:
        raise ValueError("it is neither an object nor a text, or an empty one.")
    return value


def _add(collector: Collector, value: str | dict[str, Any]) -> None:
    if isinstance(value, str):
        collector.record(value)
        return
    title_key, title = _first_of(value, _TITLES)
    text_key, text = _first_of(value, _TEXTS)
    if text:
        rest = {key: part for key, part in value.items() if key not in (title_key, text_key)}
        collector.record(text, title, plain_metadata(dict(_flat(rest))))
    else:
        collector.record("; ".join(f"{key}: {_shown(part)}" for key, part in _flat(value)))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _first_of(value: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, str]:
    for key in keys:
        if isinstance(value.get(key), str) and value[key].strip():
            return key, value[key]
    return "", ""


def _flat(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of an object, and those of objects directly in it under `outer.inner`."""
    for key, part in value.items():
        if isinstance(part, dict):
            yield from ((f"{key}.{inner}", deeper) for inner, deeper in part.items())
        else:
            yield key, part
