"""Breakers of models' APIs that all processes share.

Redis down: each process counts for itself until Redis is back.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from tools.conf import deployment
from tools.guards.breaker import BreakerRefused
from tools.guards.breaker import Permit as SharedPermit
from tools.guards.redis import RedisDown
from tools.guards.sync_breaker import Outcome, SyncBreakers
from tools.pipelines.blocks.endpoints.breaker import LocalBreakers, Permit, Refused, port

logger = logging.getLogger(__name__)


def connect_breakers(shared: SyncBreakers | None = None) -> None:
    """Let requests of this process be counted with those of all others. Call it at worker start."""
    port.breakers = SharedBreakers(shared or SyncBreakers(deployment().redis_url))


class SharedBreakers:
    """Breakers in Redis, or of this process while Redis is away."""

    def __init__(self, shared: SyncBreakers) -> None:
        self.shared = shared
        self._local = LocalBreakers()

    def admit(self, name: str) -> Permit:
        try:
            return _Shared(self, self.shared.admit(name))
        except BreakerRefused as refused:
            raise Refused(refused.retry_after) from None
        except RedisDown:
            return self._local.admit(name)


@dataclass(frozen=True, slots=True)
class _Shared:
    """A permit of the shared breaker. An outcome that Redis did not hear of is not counted."""

    breakers: SharedBreakers
    permit: SharedPermit

    def success(self) -> None:
        self._report("success")

    def failure(self) -> None:
        self._report("failure")

    def abandon(self) -> None:
        self._report("abandon")

    def _report(self, outcome: Outcome) -> None:
        try:
            self.breakers.shared.report(outcome, self.permit)
        except RedisDown:
            logger.debug("The %s of a call to %s went unrecorded", outcome, self.permit.name)
