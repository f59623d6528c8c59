"""What the environment fixed for the health checks of this process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

# Those of the Celery application, beside the pipelines'; see controlplane/celery.py.
QUEUES: Final = ("controlplane", "ingest")


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """`state_dir` is the folder whose disk is watched."""

    state_dir: Path
    least_free_mb: int = 512
    most_queued: int = 1000
    snapshot_days: int = 7


@cache
def health_settings() -> HealthSettings:
    """The settings of this process."""
    from django.conf import settings

    values = settings.CONTROL_PLANE
    return HealthSettings(
        state_dir=Path(settings.VAR_DIR),
        least_free_mb=values["HEALTH_LEAST_FREE_MB"],
        most_queued=values["HEALTH_MOST_QUEUED"],
        snapshot_days=values["HEALTH_SNAPSHOT_DAYS"],
    )
