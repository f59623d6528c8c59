"""Two calls beside each other in figures."""

from __future__ import annotations

from dataclasses import dataclass

from tools.admin.try_it.words import milliseconds
from tools.execution.trials import Outcome, Trial
from tools.models import ToolRequest


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of both calls; `change` says how they differ, where that is worth a word."""

    name: str
    old: str
    new: str
    change: str = ""


def fact_rows(row: ToolRequest, trial: Trial, caller: str) -> list[Fact]:
    """Status, time, tokens and size, then and now; `caller` is who called then, for people."""
    outcome = trial.outcome or Outcome(success=False)
    status = outcome.status or trial.state.value
    return [
        Fact("Status", row.status or row.state, status, _other(row.status, status)),
        Fact("Code", row.code or "-", outcome.code or "-", _other(row.code, outcome.code)),
        Fact(
            "Time",
            milliseconds(row.duration_ms),
            milliseconds(outcome.duration_ms),
            _change(row.duration_ms, outcome.duration_ms),
        ),
        _counted("Tokens before the budget", row.tokens_before, outcome.tokens_before),
        _counted("Tokens after the budget", row.tokens_after, outcome.tokens_after),
        _counted("Characters of the answer", row.response_bytes, outcome.response_bytes),
        Fact("From the cache", _yes(row.cache_hit), _from_cache(outcome)),
        Fact("Caller", caller, f"admin:{trial.username}"),
    ]


def _counted(name: str, old: int | None, new: int | None) -> Fact:
    return Fact(name, _number(old), _number(new), _change(old, new))


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _other(old: str, new: str) -> str:
    return "" if old == new else "differs"


def _change(old: float | None, new: float | None) -> str:
    if old is None or new is None or old == new:
        return ""
    if not old:
        return "more"
    return f"{100 * (new - old) / old:+,.0f} %"


def _from_cache(outcome: Outcome) -> str:
    if outcome.cache == "passed over":
        return "no, it was passed over"
    if outcome.cache in {"hit", "joined", "stale"}:
        return _yes(True)
    return _yes(None if outcome.cache in {"off", "not asked"} else False)


def _yes(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "no"
