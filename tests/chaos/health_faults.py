"""Things that are stopped and started again under a whole control plane, and what its health says."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from controlplane.runtime.control import SupervisorClient
from tests.controlplane.stack import Stack
from tests.processes import wait_until

# The shortest that a service can be configured with.
INTERVAL: Final = 10
PROMISE: Final = INTERVAL + 1
# How long is waited before giving up on the promise being kept at all.
PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, how it is put right, and what is to be heard of it."""

    name: str
    break_it: Callable[[], object]
    mend: Callable[[], object]
    expected: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How long after it was broken that was told, what was said, and how long after the repair all was well.

    `slowest` is the longest that any answer of /health took meanwhile.
    """

    fault: str
    noticed: float
    said: str
    healed: float
    slowest: float


class HealthEye:
    """Asks /health again and again."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.slowest = 0.0

    def ask(self) -> dict[str, Any]:
        began = time.monotonic()
        _, body = self._stack.get("/health")
        self.slowest = max(self.slowest, time.monotonic() - began)
        return body if isinstance(body, dict) else {}

    def healthy(self) -> bool:
        return self.ask().get("status") == "healthy"

    def tells(self, status: str, reason: str) -> bool:
        body = self.ask()
        return body.get("status") == status and any(
            reason in one for one in body.get("reasons", ())
        )


def suffer(stack: Stack, fault: Fault) -> Outcome:
    """Let it happen, mend it, and measure both."""
    eye = HealthEye(stack)
    wait_until(eye.healthy, PATIENCE, f"health before {fault.name}")
    eye.slowest = 0.0
    fault.break_it()
    began = time.monotonic()
    wait_until(lambda: eye.tells(fault.expected, fault.reason), PATIENCE, f"word of {fault.name}")
    noticed = time.monotonic() - began
    said = eye.ask()
    fault.mend()
    mended = time.monotonic()
    wait_until(eye.healthy, PATIENCE, f"health after {fault.name}")
    words = "; ".join(said.get("reasons", ()))
    return Outcome(
        fault.name, noticed, f"{said['status']}: {words}", time.monotonic() - mended, eye.slowest
    )


def process_fault(stack: Stack, name: str, expected: str, reason: str) -> Fault:
    """A process of the service that an operator stops, and starts again."""

    supervisor = SupervisorClient(stack.paths)

    def stop() -> None:
        supervisor.stop(stack.processes()[name])

    def start() -> None:
        supervisor.start(stack.processes()[name])

    return Fault(name, stop, start, expected, reason)


def frozen_fault(stack: Stack, name: str, expected: str, reason: str) -> Fault:
    """A process that is there and answers nobody, until it goes on."""

    def send(number: signal.Signals) -> None:
        os.kill(stack.processes()[name].pid, number)

    return Fault(
        f"{name} hangs",
        lambda: send(signal.SIGSTOP),
        lambda: send(signal.SIGCONT),
        expected,
        reason,
    )
