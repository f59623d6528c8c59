"""Circuit breakers: a dependency that keeps failing is left alone for a while.

One breaker per service name, its state in Redis, so that all processes see the same one:

    CLOSED --(failures in a row reach the threshold)--> OPEN
    OPEN --(recovery timeout over)--> HALF-OPEN, which admits a single probe
    HALF-OPEN --(probe succeeds)--> CLOSED,  --(probe fails)--> OPEN

Each state is a generation of its own. A permit carries the generation it was given in, and only
results of the present one count: a call that was admitted before the breaker opened can neither
close it nor speak for the probe. A probe that never reports is given away after the recovery
timeout. Every step is one atomic script, by the server's clock.

While a dependency is well there is nothing to decide. What a reply said of a CLOSED breaker without
failures is therefore believed for `LEASE` seconds: calls in that time are admitted, and their successes
left untold, without asking. A failure is told at once and ends the belief. Another process that opens
the breaker is obeyed `LEASE` later at most.

Redis down: fail open. Every breaker counts as CLOSED, results are not recorded, and a snapshot
says CLOSED with no failures; the deadline of each call still bounds what a dead dependency costs.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from tools.contracts import IllegalTransition, wire_time
from tools.guards.redis import Argument, RedisDown, RedisLink, load_script

logger = logging.getLogger(__name__)

STEP: Final = load_script("breaker")
LEASE: Final = 0.05
_KNOWN: Final = "cp:breakers"
_GENERATIONS: Final = "cp:breakers:generations"


class BreakerState(StrEnum):
    """The three states, as they are spelt on the wire."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF-OPEN"


TRANSITIONS: Final[Mapping[BreakerState, frozenset[BreakerState]]] = {
    BreakerState.CLOSED: frozenset({BreakerState.OPEN}),
    BreakerState.OPEN: frozenset({BreakerState.HALF_OPEN}),
    BreakerState.HALF_OPEN: frozenset({BreakerState.CLOSED, BreakerState.OPEN}),
}


def check_transition(old: BreakerState, new: BreakerState) -> None:
    """Refuse a transition that skips a state; staying in a state is none.

    Raises:
        IllegalTransition: when `new` may not follow `old`.
    """
    if new is not old and new not in TRANSITIONS[old]:
        raise IllegalTransition(f"a breaker that is {old} cannot become {new}")


@dataclass(frozen=True, slots=True)
class CircuitBreakerConfig:
    """How many failures in a row open a breaker, and for how many seconds."""

    failure_threshold: int = 5
    recovery_timeout: float = 30.0

    def __post_init__(self) -> None:
        if type(self.failure_threshold) is not int or self.failure_threshold <= 0:
            raise ValueError("failure_threshold must be a whole number above 0")
        if not (math.isfinite(self.recovery_timeout) and self.recovery_timeout > 0):
            raise ValueError("recovery_timeout must be more than 0 seconds")


MCP_DEFAULTS: Final = CircuitBreakerConfig(failure_threshold=5, recovery_timeout=30.0)
LLM_DEFAULTS: Final = CircuitBreakerConfig(failure_threshold=3, recovery_timeout=60.0)
STANDARD_CONFIGS: Final[Mapping[str, CircuitBreakerConfig]] = {
    "mcp_server": MCP_DEFAULTS,
    "gemini_api": LLM_DEFAULTS,
    # The APIs that pipelines use, see tools/guards/sync_breaker.py.
    "llm_api": LLM_DEFAULTS,
    "embeddings_api": LLM_DEFAULTS,
    "rerank_api": LLM_DEFAULTS,
}


@dataclass(frozen=True, slots=True)
class BreakerSnapshot:
    """A breaker at one moment. `failure_count` is failures in a row since the last success."""

    service_name: str
    state: BreakerState
    failure_count: int
    failure_threshold: int
    last_failure_time: datetime | None
    recovery_timeout: float
    last_state_change: datetime

    def to_wire(self) -> dict[str, Any]:
        failed = self.last_failure_time
        return {
            "service_name": self.service_name,
            "state": self.state.value,
            "failure_count": self.failure_count,
            "failure_threshold": self.failure_threshold,
            "last_failure_time": wire_time(failed) if failed else None,
            "recovery_timeout": _duration(self.recovery_timeout),
            "last_state_change": wire_time(self.last_state_change),
        }


class BreakerRefused(Exception):
    """The call may not be made now; `retry_after` seconds later one may."""

    def __init__(self, name: str, retry_after: float) -> None:
        super().__init__(f"the breaker of {name} admits no call for {retry_after:.1f} s")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to make one call. Give it back with success, failure or abandon.

    An empty generation means that Redis was down: the result will not be counted. An empty token
    means that Redis was not asked, and so the call is no probe.
    """

    name: str
    token: str
    generation: str = ""
    is_probe: bool = False


class Breakers:
    """The breakers of all services, over one link.

    `configs` is looked at on every step, so a mapping that changes takes effect at once. `now`
    replaces the server's clock in tests; then nothing is believed without asking.
    """

    def __init__(
        self,
        link: RedisLink,
        configs: Mapping[str, CircuitBreakerConfig] | None = None,
        default: CircuitBreakerConfig = MCP_DEFAULTS,
        *,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._link = link
        self._configs = STANDARD_CONFIGS if configs is None else configs
        self._default = default
        self._now = now
        self._began = datetime.now(UTC)
        # Of breakers that were well when last heard of: the generation, and until when to believe it.
        self._well: dict[str, tuple[str, float]] = {}

    def config(self, name: str) -> CircuitBreakerConfig:
        """The configuration of a service; the default for one that has none of its own."""
        return self._configs.get(name, self._default)

    async def admit(self, name: str) -> Permit:
        """Ask leave to call the service.

        Raises:
            BreakerRefused: while it is OPEN, or HALF-OPEN with the probe under way.
        """
        believed = self._believed(name)
        if believed:
            return Permit(name, "", believed)
        token = secrets.token_hex(8)
        try:
            reply = await self._step("admit", Permit(name, token))
        except RedisDown:
            return Permit(name, token)
        except asyncio.CancelledError:
            # The answer is still to come, and with it perhaps the one probe of a half-open breaker.
            self._tell("abandon", Permit(name, token))
            raise
        if reply[6]:
            raise BreakerRefused(name, max(0.0, float(reply[6])))
        return Permit(name, token, reply[2], reply[1] == BreakerState.HALF_OPEN)

    async def success(self, permit: Permit) -> None:
        """The call went well: failures start from 0 again, a probe closes the breaker.

        Only a probe is worth waiting for; what is sent after an ordinary success comes after it.
        """
        if permit.is_probe:
            await self._report("success", permit)
        elif permit.generation and permit.generation != self._believed(permit.name):
            self._tell("success", permit)

    async def failure(self, permit: Permit) -> None:
        """The call failed: one more in a row, a probe opens the breaker again."""
        self._well.pop(permit.name, None)
        await self._report("failure", permit)

    async def abandon(self, permit: Permit) -> None:
        """The call was given up: it counts neither way, and its probe is free for another."""
        if permit.token:
            await self._report("abandon", permit)

    async def snapshot(self, name: str) -> BreakerSnapshot:
        """The breaker as it stands. Looking changes nothing but what the clock has changed."""
        config = self.config(name)
        state, failures, failed, changed = BreakerState.CLOSED, 0, "", ""
        try:
            reply = await self._step("look", Permit(name, ""))
        except RedisDown:
            pass
        else:
            state, failures, failed, changed = BreakerState(reply[1]), reply[3], reply[4], reply[5]
        return BreakerSnapshot(
            service_name=name,
            state=state,
            failure_count=failures,
            failure_threshold=config.failure_threshold,
            last_failure_time=_moment(failed) if failed else None,
            recovery_timeout=config.recovery_timeout,
            last_state_change=_moment(changed) if changed else self._began,
        )

    async def reset(self, name: str) -> None:
        """Forget the breaker by an operator's hand: the next call begins a new, CLOSED one.

        This is the end of one breaker, not a transition; permits of the old one count for nothing.

        Raises:
            RedisDown: the breaker is as it was, and the operator should know.
        """
        await self._step("reset", Permit(name, ""))

    async def known(self) -> list[str]:
        """Names of the services that were called since their breaker began; none if Redis is down."""
        try:
            return sorted(await self._link.command("SMEMBERS", _KNOWN))
        except RedisDown:
            return []

    async def _report(self, step: str, permit: Permit) -> None:
        if not permit.generation:
            return
        try:
            await self._step(step, permit)
        except RedisDown:
            logger.debug("The %s of a call to %s went unrecorded", step, permit.name)

    async def _step(self, step: str, permit: Permit) -> list[Any]:
        reply: list[Any] = await self._submit(step, permit)
        self._learn(permit.name, reply)
        return reply

    def _submit(self, step: str, permit: Permit) -> asyncio.Future[Any]:
        keys, arguments = step_arguments(step, permit, self.config(permit.name), self._now)
        return self._link.submit_script(STEP, keys, *arguments)

    def _tell(self, step: str, permit: Permit) -> None:
        """Take a step that nobody waits for."""

        def told(reply: asyncio.Future[Any]) -> None:
            if not reply.cancelled() and reply.exception() is None:
                self._learn(permit.name, reply.result())

        self._submit(step, permit).add_done_callback(told)

    def _believed(self, name: str) -> str:
        """The generation of a breaker that is still held to be well, or nothing."""
        generation, until = self._well.get(name, ("", 0.0))
        return generation if time.monotonic() < until else ""

    def _learn(self, name: str, reply: Sequence[Any]) -> None:
        tell_change(name, reply)
        _, state, generation, failures, *_ = reply
        if state == BreakerState.CLOSED and generation and not failures and self._now is None:
            self._well[name] = generation, time.monotonic() + LEASE
        else:
            self._well.pop(name, None)


def step_arguments(
    step: str, permit: Permit, config: CircuitBreakerConfig, now: Callable[[], float] | None
) -> tuple[list[str], list[Argument]]:
    """The keys and arguments of `STEP` for one step of a breaker."""
    return [f"cp:breaker:{permit.name}", _KNOWN, _GENERATIONS], [
        step,
        permit.name,
        config.failure_threshold,
        config.recovery_timeout,
        "" if now is None else f"{now():.6f}",
        permit.token,
        permit.generation,
    ]


def tell_change(name: str, reply: Sequence[Any]) -> None:
    """Log a change of state that a step made."""
    before, after = BreakerState(reply[0]), BreakerState(reply[1])
    if before is not after:
        check_transition(before, after)
        level = logging.WARNING if after is BreakerState.OPEN else logging.INFO
        logger.log(level, "Breaker of %s: %s -> %s", name, before, after)


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)


def _duration(seconds: float) -> str:
    """ISO 8601: PT30S, PT0.5S."""
    return f"PT{seconds:.6f}".rstrip("0").rstrip(".") + "S"
