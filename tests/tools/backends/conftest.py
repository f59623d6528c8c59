"""Fixtures of the built-in tools."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.tools.backends.rows import finished, logged
from tools.backends import server_metrics, statistics
from tools.backends.ports import Ports, ports
from tools.errors import ErrorCode


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing kept from another test, and the process's own ports afterwards."""
    kept = Ports(ports.health, ports.live, ports.read_result)
    statistics.forget()
    server_metrics.forget()
    ports.live = None
    yield
    ports.health, ports.live, ports.read_result = kept.health, kept.live, kept.read_result


@pytest.fixture
def rag_calls(transactional_db: None) -> None:
    """A hundred recent successes of 1 to 100 ms, four failures, and calls that must not count."""
    logged(
        [finished("rag_basic", duration_ms=float(number)) for number in range(1, 101)]
        + [
            finished("rag_crag", duration_ms=200.0, code=ErrorCode.EXECUTION_ERROR),
            finished("rag_crag", duration_ms=200.0, code=ErrorCode.EXECUTION_ERROR),
            finished("rag_crag", duration_ms=200.0, code=ErrorCode.EXECUTION_ERROR),
            finished("rag_graphrag", duration_ms=200.0, code=ErrorCode.TIMEOUT),
            finished("rag_basic", ago=timedelta(minutes=61), code=ErrorCode.INTERNAL_ERROR),
            finished("server_metrics", duration_ms=9000.0),
        ]
    )
