"""How the queries of pipelines ended of late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tools.errors import CallStatus, ErrorCode
from tools.models import PipelineConfig, ToolRequest

HOUR: Final = timedelta(hours=1)
# Most rows of one pipeline that are looked at; enough to judge by.
LATEST: Final = 200
# What speaks against the pipeline; the other codes speak against its callers.
PIPELINE_FAILED: Final = (
    ErrorCode.EXECUTION_ERROR.value,
    ErrorCode.INTERNAL_ERROR.value,
    ErrorCode.TIMEOUT.value,
    ErrorCode.SERVICE_UNAVAILABLE.value,
)


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    """`recent` queries and how many of them failed; `error_rate` of the last hour, from 0 to 1."""

    enabled: bool = True
    last_success: datetime | None = None
    error_rate: float = 0.0
    recent: int = 0
    recent_failed: int = 0


def pipeline_figures(
    since: datetime, well_since: Mapping[str, datetime]
) -> dict[str, PipelineFigures]:
    """Of each pipeline, by the name of its tool.

    Recent is what came after `since` and, where given, after the pipeline was found well again: what
    went wrong before that is over.
    """
    rows = PipelineConfig.objects.order_by().values_list("tool__name", "tool__enabled")
    return {
        name: _figures(name, enabled, max(since, well_since.get(name, since)))
        for name, enabled in rows
    }


def _figures(name: str, enabled: bool, since: datetime) -> PipelineFigures:
    calls = ToolRequest.objects.filter(tool_id=name, finished_at__isnull=False)
    latest = list(
        calls.filter(received_at__gte=datetime.now(UTC) - HOUR)
        .order_by("-received_at")
        .values_list("received_at", "code")[:LATEST]
    )
    recent = [code for received, code in latest if received >= since]
    succeeded = calls.filter(status=CallStatus.SUCCESS.value).order_by("-received_at")
    failed = sum(code in PIPELINE_FAILED for _, code in latest)
    return PipelineFigures(
        enabled=enabled,
        last_success=succeeded.values_list("finished_at", flat=True).first(),
        error_rate=failed / len(latest) if latest else 0.0,
        recent=len(recent),
        recent_failed=sum(code in PIPELINE_FAILED for code in recent),
    )
