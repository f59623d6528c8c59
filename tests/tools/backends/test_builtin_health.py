"""What `rag_health_check` answers."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from tests.tools.backends.calls import WIRE_TIME, call, live
from tools.backends.ports import ports
from tools.errors import ServiceUnavailable, TransportFault

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fresh")]


async def test_rag_health_check_reports_measured_health(rag_calls: None) -> None:
    # S0-065, S0-073, S0-075, S0-076, S0-077, S0-078, S0-079, F0-14, T03, C08
    before = datetime.now(UTC) - timedelta(seconds=60)
    answer = await call("rag_health_check")
    assert set(answer) == {
        "overall_status",
        "pipeline_statuses",
        "database_status",
        "performance_metrics",
        "last_updated",
    }
    assert answer["pipeline_statuses"] == {}
    database = answer["database_status"]
    assert database["connected"] is True
    assert type(database["response_time_ms"]) is int
    assert re.match(r"^\d+/\d+$", database["connection_pool_usage"])
    assert WIRE_TIME.match(answer["last_updated"])
    assert datetime.fromisoformat(answer["last_updated"]) >= before
    assert answer["performance_metrics"] == {
        "average_response_time_ms": pytest.approx(52.0, rel=0.01),
        "p95_response_time_ms": pytest.approx(99.0, rel=0.01),
        "error_rate": pytest.approx(4 / 104),
        "queries_per_minute": pytest.approx(104 / 60, rel=0.01),
    }


async def test_rag_health_check_without_queries_has_no_times() -> None:
    # F0-14
    answer = await call("rag_health_check")
    assert answer["performance_metrics"] == {
        "average_response_time_ms": None,
        "p95_response_time_ms": None,
        "error_rate": 0.0,
        "queries_per_minute": 0.0,
    }


async def test_rag_health_check_leaves_out_figures_and_adds_details_as_asked() -> None:
    # F0-10
    ports.live = live
    answer = await call("rag_health_check", include_performance_metrics=False, include_details=True)
    assert "performance_metrics" not in answer
    details = answer["details"]
    assert set(details["dependencies"]) >= {"database", "redis", "worker", "beat"}
    assert details["dependencies"]["database"]["status"] == "connected"
    assert (details["state"], details["in_flight"]) == ("HEALTHY", 2)


async def test_rag_health_check_still_answers_when_figures_cannot_be_read() -> None:
    # F0-14: inject a fault, values move
    await asyncio.to_thread(_hide_figures)
    try:
        answer = await call("rag_health_check")
        assert answer["performance_metrics"] is None
        with pytest.raises(TransportFault):
            await call("server_metrics")
    finally:
        await asyncio.to_thread(_restore_figures)


def _hide_figures() -> None:
    _rename("tools_callfigures", "hidden_callfigures")


def _restore_figures() -> None:
    _rename("hidden_callfigures", "tools_callfigures")


def _rename(old: str, new: str) -> None:
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")
    finally:
        connections.close_all()


async def test_without_a_measuring_process_the_health_tool_says_so() -> None:
    ports.health = None
    with pytest.raises(ServiceUnavailable):
        await call("rag_health_check")
