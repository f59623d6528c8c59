"""A call that was started from a page, as pages see it; and the same as text, for Redis."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from tools.guards.trials import TrialState
from tools.vault import VaultFault, seal, unseal

__all__ = ["Outcome", "Trial", "TrialProgress", "TrialState"]

# Of an answer as JSON. What is larger is shown by its beginning: no page could show more.
LONGEST_ANSWER: Final = 1_000_000
LONGEST_EXCERPT: Final = 100_000


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """How far the tool says it is; `total` None: not known."""

    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended and what each stage decided.

    `envelope` is the answer as callers get it; None where there was none, or where it is too long
    and `excerpt` has its beginning. `journalled` says that the request log has a row of the call.
    `cache` is a `CacheUse`, `breaker` a `BreakerSeen`, of the service `dependency`.
    """

    success: bool
    envelope: Mapping[str, Any] | None = None
    excerpt: str = ""
    http_status: int = 0
    status: str = ""
    code: str = ""
    error: str = ""
    duration_ms: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    tokens_before: int | None = None
    tokens_after: int | None = None
    response_bytes: int | None = None
    cache: str = "not asked"
    breaker: str = "not asked"
    dependency: str = ""
    journalled: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial at one moment. `seconds` is its age while it runs, its length afterwards.

    `shared` is False when only the process that runs it knows of it, because Redis is away.
    `replay_of` is the call id of the row of the request log that it repeats; `fresh` says that it
    passes the cache over.
    """

    trial_id: str
    tool: str
    arguments: Mapping[str, Any]
    username: str
    started_at: datetime
    call_id: str = ""
    request_id: str = ""
    replay_of: str = ""
    fresh: bool = False
    state: TrialState = TrialState.RUNNING
    seconds: float = 0.0
    cancelling: bool = False
    progress: TrialProgress | None = None
    outcome: Outcome | None = None
    shared: bool = True

    @property
    def running(self) -> bool:
        return self.state is TrialState.RUNNING


_TRIAL: Final = frozenset(one.name for one in fields(Trial))


def answer_of(envelope: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """`envelope` as an outcome holds it: whole, or nothing and its beginning."""
    text = json.dumps(envelope, ensure_ascii=False)
    if len(text) <= LONGEST_ANSWER:
        return envelope, ""
    return None, text[:LONGEST_EXCERPT]


def write_about(trial: Trial) -> str:
    """What stays the same while a trial runs. Sealed: people type keys and passwords into arguments."""
    about = json.dumps(
        {
            "tool": trial.tool,
            "arguments": trial.arguments,
            "username": trial.username,
            "started_at": trial.started_at.isoformat(),
            "call_id": trial.call_id,
            "request_id": trial.request_id,
            "replay_of": trial.replay_of,
            # Processes of the release before this one do not know the word; of a replay it goes without saying.
            **({"fresh": True} if trial.fresh and not trial.replay_of else {}),
        }
    )
    return seal(about)


def read_about(trial_id: str, text: str) -> Trial | None:
    """The trial that `text` is about; None when it was sealed under a key that is not known here."""
    try:
        values: dict[str, Any] = json.loads(unseal(text))
    except VaultFault:
        return None
    started = datetime.fromisoformat(values.pop("started_at"))
    values.setdefault("fresh", bool(values.get("replay_of")))
    # A later release may have more to say.
    known = {name: value for name, value in values.items() if name in _TRIAL}
    return Trial(trial_id=trial_id, started_at=started, **known)


def write_progress(progress: TrialProgress | None) -> str:
    return "" if progress is None else json.dumps(asdict(progress))


def read_progress(text: str) -> TrialProgress | None:
    return TrialProgress(**json.loads(text)) if text else None


def write_outcome(outcome: Outcome) -> str:
    return json.dumps(asdict(outcome))


def read_outcome(text: str | None) -> Outcome | None:
    return Outcome(**json.loads(text)) if text else None
