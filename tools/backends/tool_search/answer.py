"""The answer of `tool_search`: the found tools with their schemas, within a token budget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tools.backends.tool_search.ranking import WORDS, Match
from tools.backends.tool_search.shorten import LAST_STEP, shortened
from tools.context.tokens import count
from tools.contracts import ToolSpec

MOST_TOKENS: Final = 3_000
SHORTENED: Final = (
    "Schemas marked schema_shortened are not whole. "
    "Search for the exact name with limit 1 to get one whole."
)
NOTHING_FOUND: Final = "No tool matches. Say what you want to get done in other words."
NO_SUCH_WORDS: Final = "No tool has these words. Search again with other words for the same thing."


def answer(
    matches: Sequence[Match], *, matching: str, total: int, most_tokens: int = MOST_TOKENS
) -> dict[str, Any]:
    """What the caller gets. A single tool always comes with its whole schema."""
    entries = [_entry(match) for match in matches]
    if len(entries) > 1:
        entries = _fitted(entries, most_tokens)
    data: dict[str, Any] = {"matching": matching, "tools": entries, "total": total}
    if not entries:
        data["note"] = NO_SUCH_WORDS if matching == WORDS else NOTHING_FOUND
    elif any("schema_shortened" in entry for entry in entries):
        data["note"] = SHORTENED
    return data


def _entry(match: Match) -> dict[str, Any]:
    spec = match.spec
    entry: dict[str, Any] = {"name": spec.name}
    if spec.title:
        entry["title"] = spec.title
    entry |= {
        "description": spec.description,
        "score": round(match.score, 3),
        "input_schema": spec.input_schema,
        "annotations": _annotations(spec),
    }
    if spec.tags:
        entry["tags"] = list(spec.tags)
    return entry


def _annotations(spec: ToolSpec) -> dict[str, bool]:
    return {
        "read_only": spec.read_only,
        "destructive": spec.destructive,
        "idempotent": spec.idempotent,
    }


def _fitted(entries: list[dict[str, Any]], most_tokens: int) -> list[dict[str, Any]]:
    """`entries` shortened as little as it takes, the last ones first."""
    fitted = list(entries)
    tokens = [_tokens(entry) for entry in entries]
    for step in range(1, LAST_STEP + 1):
        for index in reversed(range(len(entries))):
            if sum(tokens) <= most_tokens:
                return fitted
            fitted[index] = shortened(entries[index], step)
            tokens[index] = _tokens(fitted[index])
    return fitted


def _tokens(entry: dict[str, Any]) -> int:
    return count(json.dumps(entry))
