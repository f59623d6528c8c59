"""One trial as the page shows it: how it ended, what was decided, how long each stage took."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from tools.admin.json_fields import pretty
from tools.admin.tool_calls import call_texts
from tools.admin.try_it import words
from tools.execution.trials import Outcome, Trial


def shown_trial(trial: Trial, base_url: str) -> dict[str, Any]:
    """What the template of a trial needs, running or over."""
    return {
        "trial": trial,
        "headline": words.headline(trial),
        "colour": words.colour(trial),
        "percent": _percent(trial),
        "seconds": f"{trial.seconds:.1f}",
        "row": _row(trial),
        **({} if trial.outcome is None else _ended(trial.outcome)),
        **({} if trial.running else call_texts(trial.tool, dict(trial.arguments), base_url)),
    }


def _ended(outcome: Outcome) -> dict[str, Any]:
    return {
        "outcome": outcome,
        "answer": outcome.excerpt or ("" if outcome.envelope is None else pretty(outcome.envelope)),
        "cut": bool(outcome.excerpt),
        "stages": _bars(outcome),
        "facts": _facts(outcome),
        "suggestion": _details(outcome).get("suggestion", ""),
    }


def _row(trial: Trial) -> str:
    """Where the request log has the call; one whose process died was written down when it began."""
    if trial.outcome is not None and not trial.outcome.journalled:
        return ""
    return reverse("admin:tools_toolrequest_change", args=[trial.call_id])


def fault_of(trial: Trial) -> tuple[str, str]:
    """The argument that was refused, and why; nothing when none was."""
    outcome = trial.outcome
    if outcome is None or outcome.code != "INVALID_ARGUMENTS":
        return "", ""
    told = _details(outcome)
    return str(told.get("parameter") or ""), f"Expected {told.get('expected', 'something else')}."


def _details(outcome: Outcome) -> dict[str, Any]:
    meta = (outcome.envelope or {}).get("meta") or {}
    return dict(meta.get("details") or {})


def _facts(outcome: Outcome) -> list[tuple[str, str]]:
    size = outcome.response_bytes
    return [
        ("Cache", words.cache_words(outcome)),
        ("Breaker", words.breaker_words(outcome)),
        ("Tokens", words.token_words(outcome)),
        ("Size of the whole answer", "-" if size is None else f"{size:,} characters"),
        ("HTTP status", str(outcome.http_status or "-")),
    ]


def _bars(outcome: Outcome) -> list[dict[str, Any]]:
    """Each stage with its share of the longest one."""
    longest = max(outcome.stages.values(), default=0.0) or 1.0
    return [
        {
            "name": words.stage_words(stage),
            "time": words.milliseconds(spent),
            "percent": round(100 * spent / longest, 1),
        }
        for stage, spent in outcome.stages.items()
    ]


def _percent(trial: Trial) -> int | None:
    progress = trial.progress
    if progress is None or not progress.total:
        return None
    return max(0, min(100, round(100 * progress.done / progress.total)))
