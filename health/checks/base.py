"""The checks of what the service leans on, each with a stable name and a time limit.

Built on django-health-check's classes; the shipped checks are not used because their results are
keyed by reprs, their time limit adds a second, and the worker's asks twice. What a check raises as
`ServiceUnavailable` is shown to callers; the cause goes to the log only.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from health_check.base import HealthCheck, HealthCheckResult
from health_check.exceptions import HealthCheckException, ServiceUnavailable
from typing_extensions import override

from health.probe import Probe

logger = logging.getLogger(__name__)


class Overrun(HealthCheckException):
    """A check did not answer in time; nothing is known about its dependency."""

    message_type = "Unknown"


@dataclass
class DependencyCheck(HealthCheck):
    """One dependency. `run` returns how many seconds the dependency itself took to answer."""

    name: ClassVar[str]
    # Whether being connected is worth telling: not where nothing but trouble can be known.
    told_when_well: ClassVar[bool] = True

    timeout: timedelta = field(default=timedelta(seconds=1), repr=False, kw_only=True)
    # What the last run found beside the time it took, for everyone.
    details: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _logged: str | None = field(default=None, init=False, repr=False)

    @override
    async def get_result(self, executor: Executor | None = None) -> HealthCheckResult:
        """Run the check within its limit; never raises but for cancellation."""
        error: HealthCheckException | None = None
        seconds = 0.0
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                seconds = await self._answer()
        except TimeoutError:
            error = Overrun(f"No answer within {self.timeout.total_seconds():g} s")
        except HealthCheckException as fault:
            error = fault
        except Exception:
            logger.exception("The check of %s failed on a bug", self.name)
            error = ServiceUnavailable("The check failed")
        self._log(error)
        return HealthCheckResult(check=self, error=error, time_taken=seconds)

    async def _answer(self) -> float:
        return float(await self.run())

    def _log(self, error: HealthCheckException | None) -> None:
        """Say what changed; a dependency that stays down is not worth a line per check."""
        message = error.message if error else None
        if message == self._logged:
            return
        if error is None:
            logger.info("Dependency %s: connected again", self.name)
        else:
            logger.warning("Dependency %s: %s", self.name, message, exc_info=error.__cause__)
        self._logged = message


@dataclass
class ThreadedCheck(DependencyCheck):
    """A check whose work blocks. While one run hangs, the next ones answer at once: unknown."""

    probe: Probe[float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.probe = Probe(f"check-{self.name}")

    @override
    async def _answer(self) -> float:
        future = self.probe.submit(self.run)
        if future is None:
            raise Overrun("The last check has not answered yet")
        return await asyncio.wrap_future(future)
