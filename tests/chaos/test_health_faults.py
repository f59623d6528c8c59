"""Health tells what is wrong within an interval and a second, and of its repair. All of it is in bench."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.health_faults import INTERVAL, PROMISE, process_fault, suffer
from tests.controlplane.stack import Stack, stack
from tests.yardstick import stretched


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    with stack(MONITORING__HEALTH_CHECK_INTERVAL=str(INTERVAL)) as made:
        made.up().wait_until_running()
        yield made


@pytest.mark.parametrize(
    ("process", "reason"),
    [
        ("redis", "redis: "),
        ("worker", "worker: "),
        ("beat", "beat: The beat has been silent"),
    ],
)
def test_a_stopped_process_is_told_of_within_an_interval_and_so_is_its_return(
    running: Stack, process: str, reason: str
) -> None:
    # F0-14, F3-26, S3-039, S3-040, S3-054
    outcome = suffer(running, process_fault(running, process, "degraded", reason))
    assert outcome.noticed <= stretched(PROMISE)
    # The process has to start before it can be well.
    assert outcome.healed <= stretched(PROMISE) + 10
