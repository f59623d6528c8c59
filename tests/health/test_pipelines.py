"""What a test query and the latest queries of callers say of a pipeline."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from health.canary import Canary
from health.pipelines import judge
from health.status import HealthStatus
from tools.selectors.pipelines import PipelineFigures

WELL = Canary(at=0.0, milliseconds=20)
FAILED = Canary(at=0.0, error="No worker for pipelines is running")
LATE = Canary(at=0.0, error="No answer within 5 s", late=1)
LATE_AGAIN = Canary(at=0.0, error="No answer within 5 s", late=2)
# The future counts as now, however long it takes until the test is run.
JUST_NOW = datetime.now(UTC) + timedelta(hours=1)
LONG_AGO = datetime.now(UTC) - timedelta(hours=1)


@pytest.mark.parametrize(
    ("sung", "figures", "expected"),
    [
        (WELL, PipelineFigures(), "healthy"),
        (WELL, PipelineFigures(recent=100, recent_failed=9), "healthy"),
        (WELL, PipelineFigures(recent=100, recent_failed=10), "degraded"),
        # One failed query is no reason, however few there were.
        (WELL, PipelineFigures(recent=1, recent_failed=1), "healthy"),
        (WELL, PipelineFigures(recent=2, recent_failed=2), "degraded"),
        (FAILED, PipelineFigures(last_success=JUST_NOW), "unavailable"),
        (LATE, PipelineFigures(), "degraded"),
        (LATE_AGAIN, PipelineFigures(last_success=LONG_AGO), "unavailable"),
        # Answering others is proof that it is only busy.
        (LATE_AGAIN, PipelineFigures(last_success=JUST_NOW), "degraded"),
    ],
)
def test_status_of_a_pipeline(sung: Canary, figures: PipelineFigures, expected: str) -> None:
    # S0-062, F0-14
    found = judge(sung, figures)
    assert found.status is HealthStatus(expected)
    assert (found.error is None) == (expected == "healthy")
    assert found.canary_ms == sung.milliseconds
