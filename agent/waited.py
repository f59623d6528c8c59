"""How long a turn has waited for its server in vain.

What it waits after that for the server to greet is so much shorter, so that all together is no longer than one
wait. Other turns are told nothing of it: they have waited for nothing.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class _Waited:
    seconds: float = 0.0


# The same one in all tasks of a turn: its tools are called in tasks of their own.
_turn: ContextVar[_Waited | None] = ContextVar("waited", default=None)


def turn_begins() -> None:
    """Nothing has been waited yet."""
    _began()


def waited_in_vain(seconds: float) -> None:
    (_turn.get() or _began()).seconds += seconds


def waited_so_far() -> float:
    waited = _turn.get()
    return waited.seconds if waited else 0.0


def _began() -> _Waited:
    waited = _Waited()
    _turn.set(waited)
    return waited
