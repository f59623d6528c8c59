"""The life of a call and of a serving process."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class CallState(StrEnum):
    """Life of a call in the journal."""

    RECEIVED = "received"
    VALIDATING = "validating"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"


CALL_TRANSITIONS: Final[Mapping[CallState, frozenset[CallState]]] = {
    CallState.RECEIVED: frozenset({CallState.VALIDATING}),
    CallState.VALIDATING: frozenset({CallState.EXECUTING, CallState.FAILED}),
    CallState.EXECUTING: frozenset({CallState.COMPLETED, CallState.FAILED}),
    CallState.COMPLETED: frozenset(),
    CallState.FAILED: frozenset(),
}
FINAL_STATES: Final = frozenset({CallState.COMPLETED, CallState.FAILED})


class IllegalTransition(Exception):
    """A state was asked to follow one it cannot follow."""


def advance(current: CallState, following: CallState) -> CallState:
    """The next state of a call.

    Raises:
        IllegalTransition: when a call in `current` may not become `following`.
    """
    if following not in CALL_TRANSITIONS[current]:
        raise IllegalTransition(f"a call that is {current} cannot become {following}")
    return following


class ServiceState(StrEnum):
    """Life of a serving process."""

    INITIALIZING = "INITIALIZING"
    HEALTHY = "HEALTHY"
    DEGRADED = "DEGRADED"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    STOPPED = "STOPPED"


SERVICE_TRANSITIONS: Final[Mapping[ServiceState, frozenset[ServiceState]]] = {
    ServiceState.INITIALIZING: frozenset({ServiceState.HEALTHY, ServiceState.DEGRADED}),
    ServiceState.HEALTHY: frozenset({ServiceState.DEGRADED}),
    ServiceState.DEGRADED: frozenset({ServiceState.HEALTHY}),
    ServiceState.SHUTTING_DOWN: frozenset({ServiceState.STOPPED}),
    ServiceState.STOPPED: frozenset(),
}


def next_service_state(current: ServiceState, following: ServiceState) -> ServiceState:
    """The next state of a serving process; any living one may start to shut down.

    Raises:
        IllegalTransition: when `following` may not follow `current`.
    """
    stopping = following is ServiceState.SHUTTING_DOWN and current is not ServiceState.STOPPED
    if following is current or stopping or following in SERVICE_TRANSITIONS[current]:
        return following
    raise IllegalTransition(f"a service that is {current} cannot become {following}")
