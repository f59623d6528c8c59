"""Calls as lines of a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_EXPORTED: Final = 100_000
CUT: Final = "Cut after {:,} calls; there are more."
LONGEST_SECONDS: Final = 300.0
LATE: Final = "Cut after {:g} seconds; older calls were not looked at."
COLUMNS: Final = (
    *("call_id", "request_id", "received_at", "finished_at", "duration_ms", "tool", "source"),
    *("transport", "caller", "client", "state", "status", "code", "error", "cache_hit"),
    *("tokens_before", "tokens_after", "request_bytes", "response_bytes"),
    *("correlation_id", "thread_id", "query_text", "arguments"),
)
ANSWER: Final = ("answer", "answer_truncated")
# What spreadsheets take for the beginning of a formula.
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Portion = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Cut:
    """In place of calls: why there are no more, and the address of a file that goes on from there."""

    why: str
    rest: str


def as_csv(portions: Iterable[Portion | Cut], answers: bool) -> Iterator[str]:
    columns = (*COLUMNS, *ANSWER) if answers else COLUMNS
    # With the mark by which spreadsheets know that it is UTF-8.
    yield "\ufeff" + _lines([columns])
    for portion in portions:
        if isinstance(portion, Cut):
            yield _lines([[f"# {portion.why} The rest: {portion.rest}"]])
            return
        yield _lines([[_cell(one[name]) for name in columns] for one in portion])


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A cell that is read as text or a number, never as a formula."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    # NUL ends the line for some readers.
    text = value.replace("\x00", "")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULAS) else text


def as_lines(portions: Iterable[Portion | Cut], answers: bool) -> Iterator[str]:
    for portion in portions:
        if isinstance(portion, Cut):
            yield json.dumps({"cut": portion.why, "rest": portion.rest}) + "\n"
            return
        yield "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in portion)


FORMATS: Final = {
    "csv": ("text/csv", "csv", as_csv),
    "jsonl": ("application/x-ndjson", "jsonl", as_lines),
}
