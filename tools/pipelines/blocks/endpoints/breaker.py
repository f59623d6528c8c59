"""The breakers of models' APIs: after 3 failures in a row one is left alone for 60 s, then probed once.

What keeps the count is behind `Breakers`. A process begins with a count of its own; workers exchange
it at their start for one that all processes share (`tools.services.model_endpoints`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from tools.pipelines.blocks.endpoints.faults import EndpointClosed, EndpointFault

THRESHOLD: Final = 3
RECOVERY_SECONDS: Final = 60.0


class Refused(Exception):
    """The API may not be asked now; `retry_after` seconds later it may."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"no call for {retry_after:.1f} s")
        self.retry_after = retry_after


class Permit(Protocol):
    """Leave for one request; whoever has it says how the request went."""

    def success(self) -> None: ...

    def failure(self) -> None: ...

    def abandon(self) -> None:
        """It went neither well nor wrong."""
        ...


class Breakers(Protocol):
    """One breaker per API."""

    def admit(self, name: str) -> Permit:
        """Ask leave for a request.

        Raises:
            Refused: while the breaker is open, or its probe is under way.
        """
        ...


@dataclass(slots=True)
class _State:
    failures: int = 0
    opened: float | None = None
    # Goes up whenever the breaker opens or closes: earlier requests then count for nothing.
    generation: int = 0
    probe: _LocalPermit | None = None
    probed: float = 0.0


class LocalBreakers:
    """Breakers of this process alone."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._guard = threading.Lock()
        self._states: dict[str, _State] = {}

    def admit(self, name: str) -> Permit:
        with self._guard:
            state = self._states.setdefault(name, _State())
            permit = _LocalPermit(self, name, state.generation)
            if state.opened is None:
                return permit
            now = self._now()
            if now < state.opened + RECOVERY_SECONDS:
                raise Refused(state.opened + RECOVERY_SECONDS - now)
            # A probe that never reports is given away in the end.
            if state.probe is not None and now < state.probed + RECOVERY_SECONDS:
                raise Refused(min(1.0, state.probed + RECOVERY_SECONDS - now))
            state.probe, state.probed = permit, now
            return permit

    def report(self, permit: _LocalPermit, outcome: str) -> None:
        """Count the outcome of a request, unless the breaker moved on since it was admitted."""
        with self._guard:
            state = self._states[permit.name]
            is_probe = state.probe is permit
            if permit.generation != state.generation or (state.opened is not None and not is_probe):
                return
            if outcome == "success":
                self._states[permit.name] = _State(generation=state.generation + is_probe)
            elif outcome == "failure":
                state.failures += 1
                if is_probe or state.failures >= THRESHOLD:
                    state.opened, state.probe = self._now(), None
                    state.generation += 1
            elif is_probe:
                state.probe = None


@dataclass(frozen=True, slots=True, eq=False)
class _LocalPermit:
    breakers: LocalBreakers
    name: str
    generation: int

    def success(self) -> None:
        self.breakers.report(self, "success")

    def failure(self) -> None:
        self.breakers.report(self, "failure")

    def abandon(self) -> None:
        self.breakers.report(self, "abandon")


class _Port:
    """Where requests find the breakers of this process."""

    def __init__(self) -> None:
        self.breakers: Breakers = LocalBreakers()


port: Final = _Port()


@contextmanager
def guarded(name: str, title: str) -> Iterator[None]:
    """A request to an API, counted by its breaker.

    Faults of configuration count neither way: the API is there. Nor does a request that was given up.

    Raises:
        EndpointClosed: the breaker is open.
    """
    try:
        permit = port.breakers.admit(name)
    except Refused as refused:
        raise EndpointClosed(title, refused.retry_after) from None
    try:
        yield
    except EndpointFault as fault:
        if fault.counts:
            permit.failure()
        else:
            permit.abandon()
        raise
    except BaseException:
        permit.abandon()
        raise
    permit.success()
