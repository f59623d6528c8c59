"""Answers of several pipelines to one question, laid side by side: columns, and documents across them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools.admin.evaluation_charts import looks
from tools.execution.trials import Outcome, Trial, TrialState

MOST_DOCUMENTS: Final = 50
LONGEST_EXCERPT: Final = 400
LONGEST_VALUE: Final = 300
# Told elsewhere in the column.
_TOLD: Final = frozenset({"pipeline_name", "execution_time_ms", "tokens_used"})
_FIGURES: Final = (
    ("Retrieval", "retrieval_time_ms"),
    ("Generation", "generation_time_ms"),
    ("Pipeline", "execution_time_ms"),
)
GONE: Final = "This answer is not known any more: they are kept for an hour. Ask again."
UNREACHABLE: Final = (
    "Nobody can be asked how far it is: Redis cannot be reached, or the service starts."
)
CANCELLED: Final = "It was cancelled before it ended."
LOST: Final = "The process that ran it ended. Ask again."
TOO_LONG: Final = "The answer is too long to be shown here. Ask for fewer passages."


def columns(trials: Sequence[tuple[str, Trial | None]], *, reachable: bool) -> list[dict[str, Any]]:
    """One column for each trial, in their order; documents that several found have one number."""
    known = looks()
    shown = []
    for name, trial in trials:
        column = _unknown(reachable=reachable) if trial is None else _column(trial)
        shown.append({"name": name, "look": known.get(name, "look7"), **column})
    _number(shown)
    return shown


def matrix(shown: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every document, those that most columns found first, with its rank and score in each."""
    rows: dict[str, dict[str, Any]] = {}
    for place, column in enumerate(shown):
        for document in column["documents"]:
            row = rows.setdefault(
                document["name"],
                {
                    "name": document["name"],
                    "number": document["number"],
                    "cells": [None] * len(shown),
                },
            )
            if row["cells"][place] is None:
                row["cells"][place] = {"rank": document["rank"], "score": document["score"]}
    return sorted(rows.values(), key=lambda row: int(row["number"]))


def _unknown(*, reachable: bool) -> dict[str, Any]:
    return {"state": "failed", "error": GONE if reachable else UNREACHABLE, "documents": []}


def _column(trial: Trial) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "trial": trial,
        "seconds": f"{trial.seconds:.1f} s",
        "documents": [],
        "state": "running" if trial.running else "failed",
    }
    if trial.running:
        note = trial.progress.message if trial.progress else ""
        return {**shown, "note": note or "Waiting for its turn"}
    if trial.state is not TrialState.ENDED:
        return {**shown, "error": CANCELLED if trial.state is TrialState.CANCELLED else LOST}
    if trial.outcome is None:
        return {**shown, "error": GONE}
    return {**shown, **_outcome(trial.outcome)}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if not outcome.success:
        return {"error": outcome.error or "It failed without a reason.", "code": outcome.code}
    envelope = outcome.envelope or {}
    data = envelope.get("data")
    if not isinstance(data, dict):
        return {"error": TOO_LONG}
    return {
        "state": "done",
        "answer": str(data.get("answer", "")),
        "documents": _documents(data.get("retrieved_documents")),
        "figures": _figures(data.get("performance_metrics"), outcome),
        "metadata": _metadata(data.get("metadata")),
    }


def _documents(given: Any) -> list[dict[str, Any]]:
    found = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    return [_document(rank, one) for rank, one in enumerate(found[:MOST_DOCUMENTS], start=1)]


def _document(rank: int, one: Mapping[str, Any]) -> dict[str, Any]:
    about = one.get("metadata")
    about = about if isinstance(about, dict) else {}
    score = one.get("score")
    content = str(one.get("content", ""))
    return {
        "rank": rank,
        "name": str(about.get("source") or one.get("doc_id", "?")),
        "title": str(about.get("title") or ""),
        "score": f"{score:.3f}" if isinstance(score, int | float) else "-",
        "excerpt": content[:LONGEST_EXCERPT] + ("…" if len(content) > LONGEST_EXCERPT else ""),
    }


def _figures(given: Any, outcome: Outcome) -> list[tuple[str, str]]:
    told = given if isinstance(given, dict) else {}
    shown = [
        (title, f"{told[key]:,} ms") for title, key in _FIGURES if isinstance(told.get(key), int)
    ]
    shown.append(("In all", f"{outcome.duration_ms:,.0f} ms"))
    tokens = told.get("tokens_used")
    shown.append(("Tokens", f"{tokens:,}" if isinstance(tokens, int) else "-"))
    if outcome.cache == "hit":
        shown.append(("Cache", "from the cache"))
    return shown


def _metadata(given: Any) -> list[tuple[str, str]]:
    found = given if isinstance(given, dict) else {}
    return [(key, _short(value)) for key, value in found.items() if key not in _TOLD]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _number(shown: Sequence[dict[str, Any]]) -> None:
    """Give each document its number, and say how many columns have it."""
    places: dict[str, list[tuple[int, int]]] = {}
    for place, column in enumerate(shown):
        for document in column["documents"]:
            places.setdefault(document["name"], []).append((document["rank"], place))
    finders = {name: len({place for _, place in found}) for name, found in places.items()}
    order = sorted(places, key=lambda name: (-finders[name], min(places[name])))
    numbers = {name: number for number, name in enumerate(order, start=1)}
    for column in shown:
        for document in column["documents"]:
            document["number"] = numbers[document["name"]]
            document["finders"] = finders[document["name"]]
