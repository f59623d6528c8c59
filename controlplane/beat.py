"""The beat: sends what is due by the schedule in the database, and tells that it does.

What the program itself needs done is put on the schedule when it is not there yet; what operators
change about it in the admin stays. The interval of health checks alone follows the configuration of
the service.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from typing_extensions import override

from health.checks.broker import BEAT_KEY
from tools.conf import ConfigurationFault
from tools.selectors.service import service_settings

logger = logging.getLogger(__name__)

HEALTH_CHECKS: Final = "health-checks"
FOLLOW_EVERY: Final = 2.0
TELL_SECONDS: Final = 0.5
# A beat that stopped is not told of for ever.
KEPT_SECONDS: Final = 3600


class Scheduler(DatabaseScheduler):
    """The schedule of django-celery-beat with defaults that operators may change."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._followed_at = 0.0
        self._redis = Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=TELL_SECONDS,
            socket_timeout=TELL_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        super().__init__(*args, **kwargs)

    @override
    def setup_schedule(self) -> None:
        # Without Celery's own entry, which removes old results: Redis does that by itself.
        self.update_from_dict(self.app.conf.beat_schedule)

    @override
    def update_from_dict(self, mapping: Mapping[str, Mapping[str, Any]]) -> None:
        """Put on the schedule what is not there."""
        for name, entry in mapping.items():
            PeriodicTask.objects.get_or_create(
                name=name,
                defaults={
                    "task": entry["task"],
                    "interval": every(round(entry["schedule"])),
                    # A message is worthless once the next one is due.
                    "expire_seconds": round(entry["schedule"]),
                },
            )

    @override
    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._tell()
        if time.monotonic() - self._followed_at >= FOLLOW_EVERY:
            self._followed_at = time.monotonic()
            self._follow_configuration()
        return float(super().tick(*args, **kwargs))

    def _tell(self) -> None:
        try:
            self._redis.set(BEAT_KEY, f"{time.time():.3f}", ex=KEPT_SECONDS)
        except RedisError as fault:
            logger.debug("The beat cannot tell that it runs: %r", fault)

    def _follow_configuration(self) -> None:
        try:
            follow_interval(service_settings().monitoring_health_check_interval)
        except (DatabaseError, ConfigurationFault) as fault:
            logger.warning("Health checks keep their interval: %s", fault)


def every(seconds: int) -> IntervalSchedule:
    """The schedule that comes round every so many seconds."""
    found: IntervalSchedule
    found, _ = IntervalSchedule.objects.get_or_create(
        every=seconds, period=IntervalSchedule.SECONDS
    )
    return found


def follow_interval(seconds: int) -> None:
    """Let health checks be made every so many seconds."""
    task = PeriodicTask.objects.filter(name=HEALTH_CHECKS).select_related("interval").first()
    if task is None or (task.interval is not None and task.interval.every == seconds):
        return
    task.interval, task.crontab, task.solar, task.clocked = every(seconds), None, None, None
    task.expire_seconds = seconds
    # Saving tells the schedule of a running beat to be read again.
    task.save()
