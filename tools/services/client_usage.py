"""What API clients use of what they may: their rate now, their calls of a day and of a week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tools.guards.rate import spent
from tools.models import ApiClient
from tools.selectors import service_settings
from tools.selectors.callers import CallerSums, caller_sums
from tools.selectors.figures import Chosen, Point, aligned, call_series
from tools.services.over_redis import RedisDown, over_redis

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Rate:
    """Calls per minute: how many are allowed, and how many of them are used up at this moment.

    `used` is None while Redis cannot be asked.
    """

    limit: int
    used: int | None
    own: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """The calls of a client since a moment."""

    since: datetime
    sums: CallerSums


def caller_of(client: ApiClient) -> str:
    """What the request log calls this client."""
    return f"client:{client.pk}"


def client_rates(clients: Sequence[ApiClient]) -> Mapping[int, Rate]:
    """The rates of these clients, by key."""
    usual = service_settings().security_rate_limit
    limits = {caller_of(one): one.rate_limit_per_minute or usual for one in clients}
    used: Mapping[str, int] = {}
    if limits:
        try:
            used = over_redis(lambda link: spent(link, limits))
        except RedisDown:
            used = {}
    return {
        one.pk: Rate(
            limits[caller_of(one)],
            used.get(caller_of(one)),
            own=one.rate_limit_per_minute is not None,
        )
        for one in clients
    }


def client_calls(clients: Sequence[ApiClient], back: timedelta) -> Mapping[int, Stretch]:
    """The calls of these clients over the last while, by key."""
    now = datetime.now(UTC)
    since = aligned(now - back, now)
    sums = caller_sums([caller_of(one) for one in clients], since, now)
    return {one.pk: Stretch(since, sums.get(caller_of(one), CallerSums())) for one in clients}


def client_hours(client: ApiClient, hours: int = 24) -> Sequence[Point]:
    """The client's calls hour by hour, the present hour last."""
    now = datetime.now(UTC)
    begin = now.replace(minute=0, second=0, microsecond=0) - HOUR * (hours - 1)
    return call_series(begin, now, HOUR, chosen=Chosen(caller=caller_of(client)))
