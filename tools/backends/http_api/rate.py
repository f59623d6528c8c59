"""How many requests per minute an API is sent, counted over all processes."""

from __future__ import annotations

from dataclasses import replace

from tools.backends.ports import ports
from tools.errors import RateLimited
from tools.guards.rate import RateLimiter
from tools.guards.redis import RedisLink
from tools.operations import Service


class Allowance:
    """Spends the requests that services may make."""

    def __init__(self) -> None:
        self._link: RedisLink | None = None
        self._limiter: RateLimiter | None = None

    async def take(self, service: Service) -> int | None:
        """Use one request; how many are left now, None where there is no limit.

        A process without Redis serves no calls of agents, and does not count.

        Raises:
            RateLimited: the minute is used up.
        """
        limiter = self._current()
        if service.rate_per_minute is None or limiter is None:
            return None
        decision = await limiter.take(f"api:{service.slug}", service.rate_per_minute)
        if decision.allowed:
            return decision.remaining
        refusal = RateLimited(
            f"{decision.remaining} of the {service.rate_per_minute} requests per minute to the API "
            f"{service.slug} are left",
            decision.retry_after,
        )
        refusal.details = replace(
            refusal.details,
            max=service.rate_per_minute,
            current=service.rate_per_minute - decision.remaining,
        )
        raise refusal

    def _current(self) -> RateLimiter | None:
        if ports.link is not self._link:
            self._link = ports.link
            self._limiter = None if ports.link is None else RateLimiter(ports.link)
        return self._limiter
