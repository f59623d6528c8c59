"""Calls that a person started from a page: where each stands, for whichever process is asked.

A trial runs in the process that was asked to start it, which says every `BEAT_SECONDS` that it is
still there and hears then whether its owner wants it ended. One whose process has not been heard
of for `LEASE_SECONDS` is lost. Trials are kept for `keep_seconds` after they were last written to,
and are shown to their owner alone.

Redis down: nothing can be written or read, and `RedisDown` says so. The process that runs the
trial still knows of it.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tools.guards.redis import Argument, RedisLink, load_script

BEAT_SECONDS: Final = 0.5
LEASE_SECONDS: Final = 6.0
_STEP: Final = load_script("trial")


class TrialState(StrEnum):
    """Life of a trial."""

    RUNNING = "running"
    ENDED = "ended"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial as Redis knows it. `about` and `note` are what its process wrote, `seconds` its age or length."""

    state: TrialState
    about: str
    note: str
    seconds: float
    cancelling: bool


class Trials:
    """The trials of everybody, over one link."""

    def __init__(
        self,
        link: RedisLink,
        *,
        keep_seconds: float = 3600,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._link = link
        self._keep = keep_seconds
        self._lease = lease_seconds

    async def open(self, trial_id: str, owner: str, about: str) -> None:
        """Make a running trial known; again, when Redis has forgotten it.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        await self._step(trial_id, "open", _digest(owner), about)

    async def beat(self, trial_id: str, note: str) -> bool | None:
        """Say that the trial runs on. True: its owner wants it ended. None: Redis has forgotten it.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        reply = await self._step(trial_id, "beat", note)
        return None if reply == -1 else reply == 1

    async def end(self, trial_id: str, state: TrialState) -> bool:
        """Say how it ended. False: Redis has forgotten it.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        return bool(await self._step(trial_id, "end", state.value) == 1)

    async def cancel(self, trial_id: str, owner: str) -> bool:
        """Ask the process that runs it to end it. False: it does not run, or is not `owner`'s.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        return is_id(trial_id) and await self._step(trial_id, "cancel", _digest(owner)) == 1

    async def read(self, trial_id: str, owner: str) -> TrialRecord | None:
        """The trial as it stands; None for one that is not there or somebody else's.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        reply = await self._step(trial_id, "read", _digest(owner)) if is_id(trial_id) else []
        if not reply:
            return None
        state, about, note, began, beat, ended, cancel, now = reply
        silent = float(now) - float(beat) > self._lease
        known = TrialState(state)
        if known is TrialState.RUNNING and silent:
            known, ended = TrialState.LOST, beat
        return TrialRecord(
            state=known,
            about=about,
            note=note,
            seconds=max(0.0, float(ended or now) - float(began)),
            cancelling=bool(cancel),
        )

    async def _step(self, trial_id: str, step: str, *arguments: Argument) -> Any:
        return await self._link.script(
            _STEP, [f"cp:trial:{trial_id}"], step, self._keep, *arguments
        )


def is_id(trial_id: str) -> bool:
    """Whether `trial_id` has the form of one."""
    try:
        return str(uuid.UUID(trial_id)) == trial_id
    except ValueError:
        return False


def _digest(owner: str) -> str:
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]
