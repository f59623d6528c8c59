"""What the path decided about a call, in words."""

from __future__ import annotations

from typing import Final

from tools.admin.try_it.tokens import counted
from tools.execution.trials import Outcome, Trial, TrialState

COLOURS: Final = {
    TrialState.RUNNING: "info",
    TrialState.ENDED: "success",
    TrialState.CANCELLED: "warning",
    TrialState.LOST: "danger",
}
_CACHE: Final = {
    "not asked": "Not asked: the call ended before.",
    "off": "Not used: the tool has no cache time.",
    "hit": "Hit: the answer was taken from the cache, and the backend was not called.",
    "joined": "Joined: the same call was already running, and its answer was shared.",
    "miss": "Miss: the backend was called.",
    "personal": "Miss: the answer may depend on who asks, so it was not kept.",
    "passed over": "Passed over: it was neither asked nor given the answer.",
    "bypassed": "Bypassed: Redis is away, so the backend was called.",
    "stale": "Stale: the service is down, so its last known answer was given.",
}
_BREAKER: Final = {
    "not asked": "Not asked: the backend was not called.",
    "none": "None: the tool depends on no service that has one.",
    "closed": "Closed: the call was let through.",
    "probe": "Half-open: this call was the one that tries whether the service is back.",
    "refused": "Open: the call was held back.",
    "unknown": "Not known: Redis is away, so the call was let through.",
}
_STAGES: Final = {
    "lookup": "Look up the tool",
    "validation": "Check the arguments",
    "rate": "Rate limit",
    "cache": "Cache",
    "slot": "Wait for a slot",
    "breaker": "Breaker",
    "backend": "Backend",
    "budget": "Token budget",
    "journal": "Write the log",
}


def headline(trial: Trial) -> str:
    """How a trial stands, in one line."""
    outcome = trial.outcome
    if trial.state is TrialState.RUNNING:
        return "Ending…" if trial.cancelling else "Running…"
    if trial.state is TrialState.CANCELLED:
        return f"Cancelled after {trial.seconds:.1f} s"
    if trial.state is TrialState.LOST:
        return "Lost: the process that ran it has stopped or does not answer"
    if outcome is None:
        return "Ended; its answer is no longer kept"
    if outcome.success:
        return f"Succeeded in {milliseconds(outcome.duration_ms)}"
    return f"Failed after {milliseconds(outcome.duration_ms)}"


def colour(trial: Trial) -> str:
    """Of the headline, in unfold's terms."""
    failed = trial.state is TrialState.ENDED and not (trial.outcome and trial.outcome.success)
    return "danger" if failed else COLOURS[trial.state]


def cache_words(outcome: Outcome) -> str:
    words = _CACHE.get(outcome.cache, outcome.cache)
    kept = outcome.cache == "miss" and outcome.success
    return f"{words} Its answer is reused from now on." if kept else words


def breaker_words(outcome: Outcome) -> str:
    words = _BREAKER.get(outcome.breaker, outcome.breaker)
    named = outcome.dependency and outcome.breaker not in {"none", "not asked"}
    return f"{words} Service: {outcome.dependency}." if named else words


def token_words(outcome: Outcome) -> str:
    """Tokens of the answer before and after the budget."""
    before, after = outcome.tokens_before, outcome.tokens_after
    if before is None or after is None:
        found = counted(outcome) if outcome.success else None
        if found is None:
            return "Not counted: there is no answer."
        return f"{'' if found.exact else 'About '}{found.tokens:,} tokens, no budget"
    if after >= before:
        return f"{before:,}: passed whole"
    return f"{before:,} before, {after:,} after: {100 * (before - after) / before:.0f} % saved"


def stage_words(stage: str) -> str:
    return _STAGES.get(stage, stage)


def milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value / 1000:,.2f} s" if value >= 1000 else f"{value:,.1f} ms"
