"""How each pipeline is: by a test query, and by how the latest queries of callers ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import Error as DatabaseError
from django.db import connection

from health.canary import Canary, canary
from health.findings import PipelineHealth
from health.probe import Probe
from health.status import HealthStatus
from tools.contracts import ToolSource
from tools.execution.runtime import Runtime
from tools.selectors.pipelines import PipelineFigures, pipeline_figures

RECENT: Final = timedelta(minutes=5)
# A pipeline is degraded when this share of recent queries failed, and more than a single one.
TOO_MANY: Final = 0.1
FEWEST: Final = 2
# Answering this recently is proof of life, whatever became of the test query.
ALIVE: Final = timedelta(seconds=60)
NO_FIGURES: Final = PipelineFigures()
READ_SECONDS: Final = 1.0
# A thread of its own, which may hang with the database.
_reader: Final[Probe[Mapping[str, PipelineFigures]]] = Probe("pipeline-figures")


async def pipelines_health(
    runtime: Runtime, seconds: float, fresh_seconds: float
) -> dict[str, PipelineHealth]:
    """Every pipeline by the name of its tool. A test query is given `seconds`."""
    catalogue = runtime.directory.catalogue
    specs = [spec for spec in catalogue.tools.values() if spec.source is ToolSource.PIPELINE]
    found = await asyncio.gather(*(canary(runtime, spec, seconds, fresh_seconds) for spec in specs))
    sung = dict(zip((spec.name for spec in specs), found, strict=True))
    figures = await _figures(sung)
    health = {name: judge(one, figures.get(name, NO_FIGURES)) for name, one in sung.items()}
    for name, known in figures.items():
        if name not in health:
            health[name] = _not_offered(known, flawed=name in catalogue.flawed)
    for spec in specs:
        if spec.binding.get("index") is None:
            health[spec.name] = replace(health[spec.name], counted=False)
    return dict(sorted(health.items()))


def judge(sung: Canary, figures: PipelineFigures) -> PipelineHealth:
    """What a test query and the figures of the last queries mean together. Pure."""
    status, error = HealthStatus.HEALTHY, sung.error
    if sung.error is not None:
        alive = figures.last_success is not None and _now() - figures.last_success < ALIVE
        only_slow = sung.late == 1 or (sung.late > 1 and alive)
        status = HealthStatus.DEGRADED if only_slow else HealthStatus.UNAVAILABLE
    elif figures.recent_failed >= FEWEST and figures.recent_failed >= TOO_MANY * figures.recent:
        status = HealthStatus.DEGRADED
        error = f"{figures.recent_failed} of its last {figures.recent} queries failed"
    return PipelineHealth(
        status=status,
        last_success=figures.last_success,
        error_rate=figures.error_rate,
        error=error,
        canary_ms=sung.milliseconds,
    )


def _not_offered(figures: PipelineFigures, *, flawed: bool) -> PipelineHealth:
    """A pipeline that callers are not offered."""
    if flawed:
        error = "Its definition cannot be used"
    elif figures.enabled:
        error = "It is not offered yet"
    else:
        error = "It is switched off"
    return PipelineHealth(
        status=HealthStatus.UNAVAILABLE,
        last_success=figures.last_success,
        error_rate=figures.error_rate,
        error=error,
        counted=flawed,
    )


async def _figures(sung: Mapping[str, Canary]) -> Mapping[str, PipelineFigures]:
    """What the request log tells; nothing while the database is away or takes too long."""
    since = {
        name: datetime.fromtimestamp(one.well_since, UTC)
        for name, one in sung.items()
        if one.well_since is not None
    }

    def read() -> Mapping[str, PipelineFigures]:
        try:
            return pipeline_figures(_now() - RECENT, since)
        finally:
            connection.close()

    unknown = dict.fromkeys(sung, NO_FIGURES)
    reading = _reader.submit(read)
    if reading is None:
        return unknown
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await asyncio.wrap_future(reading)
    except (DatabaseError, TimeoutError):
        return unknown


def _now() -> datetime:
    return datetime.now(UTC)
