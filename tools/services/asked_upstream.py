"""A look at an upstream server that somebody asked for: the question, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from tools.services import over_redis

# For a worker that is busy with something else to become free.
START_SECONDS: Final = 60
# After so long without a worker the page says what may be wrong.
PATIENCE: Final = 5
# A worker that does not end by itself is told to after one such time, and is ended after two.
LOOK_KILL_SECONDS: Final = 5
# Past the time of the look: Redis may be away when it begins, and a worker over its time has been ended by then.
GRACE: Final = over_redis.PATIENCE + 2 * LOOK_KILL_SECONDS
NO_WORKER: Final = (
    "No worker has taken this up. Is one running? `manage.py up` starts them; "
    "`manage.py services status` shows them."
)
LOST: Final = "The worker that looked has ended without an answer. Try again."


class Purpose(StrEnum):
    """What a look is for."""

    TEST = "test"
    REFRESH = "refresh"


class AskState(StrEnum):
    """How far a question is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what has come of it. `found` is `Looked` as JSON; times are of the clock."""

    id: str
    purpose: Purpose
    by: str
    at: float
    limit: int
    state: AskState = AskState.WAITING
    began: float = 0.0
    ended: float = 0.0
    message: str = ""
    found: Mapping[str, Any] = field(default_factory=dict)
    error_lines: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        return self.state in {AskState.WAITING, AskState.RUNNING}

    @property
    def impatient(self) -> bool:
        """Whether no worker has begun although one should have."""
        return self.state is AskState.WAITING and time.time() - self.at > PATIENCE


def failed(message: str = "") -> dict[str, Any]:
    """The changes that say that nothing came of a question."""
    return {"state": AskState.FAILED, "ended": time.time(), "message": message}


def settled(asked: Asked) -> Asked:
    """The question as it is by now: one that nobody will answer any more has failed."""
    now = time.time()
    if asked.state is AskState.WAITING and now > asked.at + START_SECONDS:
        return changed(asked, **failed(NO_WORKER))
    if asked.state is AskState.RUNNING and now > asked.began + asked.limit + GRACE:
        return changed(asked, **failed(LOST))
    return asked


def changed(asked: Asked, **changes: Any) -> Asked:
    """The question with some of it replaced."""
    return Asked(**{**asdict(asked), **changes})


def from_json(told: Mapping[str, Any]) -> Asked:
    """A question as it was written down."""
    return Asked(
        **{
            **told,
            "purpose": Purpose(told["purpose"]),
            "state": AskState(told["state"]),
            "error_lines": tuple(told["error_lines"]),
        }
    )
