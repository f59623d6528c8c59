"""The breakers of `tools.guards.breaker` for code without an event loop, such as Celery's workers.

The same scripts on the same keys: a breaker that workers opened is open in the web processes' health
report. Redis down: every step raises `RedisDown`, at once for `COOL_DOWN` seconds after the first,
and the caller says what then.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from tools.guards.breaker import (
    LLM_DEFAULTS,
    STANDARD_CONFIGS,
    STEP,
    BreakerRefused,
    CircuitBreakerConfig,
    Permit,
    step_arguments,
    tell_change,
)
from tools.guards.redis import COMMAND_TIMEOUT, RedisDown

COOL_DOWN: Final = 5.0

Outcome = Literal["success", "failure", "abandon"]


class SyncBreakers:
    """Breakers in Redis. `now` replaces the server's clock in tests."""

    def __init__(
        self,
        url: str,
        configs: Mapping[str, CircuitBreakerConfig] = STANDARD_CONFIGS,
        default: CircuitBreakerConfig = LLM_DEFAULTS,
        *,
        now: Callable[[], float] | None = None,
    ) -> None:
        # Connects when first used; after a fork the child gets connections of its own.
        self._redis = Redis.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=COMMAND_TIMEOUT,
            socket_timeout=COMMAND_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
        self._configs = configs
        self._default = default
        self._now = now
        self._away_until = 0.0

    def admit(self, name: str) -> Permit:
        """Ask leave to call the service.

        Raises:
            BreakerRefused: while it is OPEN, or HALF-OPEN with the probe under way.
            RedisDown: nobody knows.
        """
        permit = Permit(name, secrets.token_hex(8))
        reply = self._step("admit", permit)
        if reply[6]:
            raise BreakerRefused(name, max(0.0, float(reply[6])))
        return Permit(name, permit.token, reply[2])

    def report(self, outcome: Outcome, permit: Permit) -> None:
        """Say how the call went.

        Raises:
            RedisDown: it was not recorded.
        """
        self._step(outcome, permit)

    def close(self) -> None:
        """Hang up."""
        self._redis.close()

    def _step(self, step: str, permit: Permit) -> list[Any]:
        if time.monotonic() < self._away_until:
            raise RedisDown("Redis was away a moment ago")
        config = self._configs.get(permit.name, self._default)
        keys, arguments = step_arguments(step, permit, config, self._now)
        try:
            reply: Any = self._redis.eval(STEP, len(keys), *keys, *map(str, arguments))
        except RedisError as fault:
            self._away_until = time.monotonic() + COOL_DOWN
            raise RedisDown(str(fault)) from fault
        tell_change(permit.name, reply)
        return list(reply)
