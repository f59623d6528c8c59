"""CSV: every row becomes a record of `column: value`."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import Final

from tools.pipelines.reading.document import (
    BlockKind,
    Collector,
    ReadDocument,
    UnreadableDocument,
    one_line,
    tidy,
)
from tools.pipelines.reading.encodings import decode

MOST_COLUMNS: Final = 500
_DELIMITERS: Final = ",;\t|"
_SAMPLE_ROWS: Final = 50
_SAMPLE_CHARACTERS: Final = 65_536


def read_csv(content: bytes) -> ReadDocument:
    """Rows as records. The first row with more than one value names the columns."""
    text = decode(content)
    collector = Collector()
    columns: list[str] = []
    for line, row in _rows(text, _delimiter_of(text[:_SAMPLE_CHARACTERS]), collector):
        if collector.full:
            break
        if not any(value.strip() for value in row):
            continue
        if not columns:
            columns = [one_line(value) for value in row[:MOST_COLUMNS]]
            continue
        if len(row) > MOST_COLUMNS:
            collector.notes.add(
                f"Line {line} has more than {MOST_COLUMNS} values; the rest is left."
            )
        collector.add(BlockKind.RECORD, _record(columns, row))
    if collector.empty and columns:
        # A table of one row: better found as it is than not at all.
        collector.add(BlockKind.RECORD, "; ".join(value for value in columns if value))
    return collector.document(metadata={"columns": [name for name in columns if name]})


def _record(columns: list[str], row: list[str]) -> str:
    parts = []
    for position, value in enumerate(row[:MOST_COLUMNS]):
        shown = tidy(value)
        if shown:
            name = columns[position] if position < len(columns) else ""
            parts.append(f"{name or f'column {position + 1}'}: {shown}")
    return "; ".join(parts)


def _rows(text: str, delimiter: str, collector: Collector) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as fault:
        message = (
            f"Line {reader.line_num} cannot be read, nor what follows it: {fault}. "
            "Often a quotation mark is missing."
        )
        if collector.empty:
            raise UnreadableDocument(message) from fault
        collector.notes.add(message)


def _delimiter_of(sample: str) -> str:
    """The one that cuts most rows into the same number of values, more than one."""
    best, most = ",", (0, 0)
    for delimiter in _DELIMITERS:
        widths: Counter[int] = Counter()
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        try:
            for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False):
                widths[len(row)] += len(row) > 1
        except csv.Error:
            pass
        if widths:
            width, rows = max(widths.items(), key=lambda item: (item[1], item[0]))
            if rows and (rows, width) > most:
                best, most = delimiter, (rows, width)
    return best
