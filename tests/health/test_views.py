"""`GET /health` and `GET /metrics` over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from django.test import AsyncClient

from health import snapshot
from health.checks import DependencyCheck, Redis
from health.findings import Dependency, PipelineHealth, Source
from health.latest import publish
from health.measure import SLOW_DATABASE_MS, Checks, assess
from health.status import DependencyStatus, HealthStatus, state_for
from health.watch import HealthWatch
from tests.health.parts import Answering, Hanging
from tools.backends import statistics
from tools.conf import deployment
from tools.contracts import ServiceState
from tools.execution.runtime import Runtime, open_runtime

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("health.urls")]

WIRE_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


@pytest.fixture
async def runtime(transactional_db: None, redis_url: str) -> AsyncIterator[Runtime]:
    statistics.forget()
    async with open_runtime() as opened:
        await opened.link.command("FLUSHALL")
        yield opened


@dataclass
class HungDatabase(Hanging):
    """A database that takes a query and never answers."""

    name: ClassVar[str] = "database"


def configure(runtime: Runtime, **values: object) -> None:
    """Serve under other settings, as after a change in the admin."""
    catalogue = runtime.directory.catalogue
    settings = replace(catalogue.settings, **values)  # type: ignore[arg-type] # by name
    runtime.use(replace(catalogue, settings=settings))


def watch(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, *checks: DependencyCheck) -> None:
    """Let this process measure with these checks, and nobody publish anything."""
    one = HealthWatch(
        runtime, Checks(checks), on_status=lambda status: runtime.observe(state_for(status))
    )
    monkeypatch.setattr(snapshot, "_watch", one)


async def test_health_names_the_service_and_each_dependency(
    runtime: Runtime, async_client: AsyncClient, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S3-052, S3-053, S3-056, S3-057, S3-058, S3-070, C08, F2-21
    configure(runtime, monitoring_dependency_timeout_ms=20_000)
    watch(monkeypatch, runtime, Answering(), Redis(redis_url))
    answer = await async_client.get("/health")
    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {
        *("status", "reasons", "service", "version", "uptime_seconds", "dependencies", "pipelines"),
        *(
            "circuit_breakers",
            "metrics",
            "objectives",
            "timestamp",
            "age_seconds",
            "source",
            "state",
        ),
    }
    assert body["reasons"] == []
    assert body["source"] == "measured"
    assert body["metrics"] == {"total": 0, "successful": 0, "failed": 0, "success_rate": 1.0}
    assert body["status"] == "healthy"
    assert body["state"] == "HEALTHY"
    assert body["service"] == runtime.settings.service_name
    assert body["version"] == deployment().version
    assert type(body["uptime_seconds"]) is int
    assert body["uptime_seconds"] >= 0
    assert WIRE_TIME.match(body["timestamp"])
    assert set(body["dependencies"]) == {"database", "redis"}
    for found in body["dependencies"].values():
        assert found["status"] == "connected"
        assert type(found["response_time_ms"]) is int
        assert "error" not in found


async def test_a_missing_dependency_degrades_and_its_return_heals(
    runtime: Runtime,
    async_client: AsyncClient,
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # S3-038, S3-039, S3-040, S3-054, F3-33
    watch(monkeypatch, runtime, Answering(), Redis(f"unix://{tmp_path}/nowhere.sock"))
    assert runtime.state is ServiceState.HEALTHY
    down = await async_client.get("/health")
    assert (down.status_code, down.json()["status"], down.json()["state"]) == (
        200,
        "degraded",
        "DEGRADED",
    )
    assert down.json()["dependencies"]["redis"] == {
        "status": "unavailable",
        "error": "Redis cannot be reached",
    }
    watch(monkeypatch, runtime, Answering(), Redis(redis_url))
    back = await async_client.get("/health")
    assert (back.status_code, back.json()["status"], back.json()["state"]) == (
        200,
        "healthy",
        "HEALTHY",
    )


async def test_a_hung_database_is_unknown_and_the_service_unavailable(
    runtime: Runtime, async_client: AsyncClient, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S3-055, F3-26, F3-33, C06
    configure(runtime, monitoring_dependency_timeout_ms=20)
    hung = HungDatabase()
    watch(monkeypatch, runtime, hung, Redis(redis_url))
    try:
        answer = await async_client.get("/health")
    finally:
        hung.release.set()
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert answer.json()["dependencies"]["database"] == {
        "status": "unknown",
        "error": "No answer within 0.02 s",
    }


@pytest.mark.parametrize(
    "state", [ServiceState.INITIALIZING, ServiceState.SHUTTING_DOWN, ServiceState.STOPPED]
)
async def test_a_process_that_does_not_serve_says_unavailable(
    runtime: Runtime,
    async_client: AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    state: ServiceState,
) -> None:
    # S3-055, F3-33
    watch(monkeypatch, runtime, Answering())
    runtime.state = state
    answer = await async_client.get("/health")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.json()["state"]) == ("unavailable", state.value)


async def test_before_there_is_a_runtime_health_is_refused_in_the_envelope(
    async_client: AsyncClient,
) -> None:
    answer = await async_client.get("/health")
    assert answer.status_code == 503
    assert answer.json()["code"] == "SERVICE_UNAVAILABLE"


async def test_the_real_dependencies_are_checked(
    runtime: Runtime, async_client: AsyncClient
) -> None:
    # S3-053, S3-054, S3-057, S3-070
    configure(runtime, monitoring_dependency_timeout_ms=2000)
    answer = await async_client.get("/health")
    body = answer.json()
    found = body["dependencies"]
    assert list(found) == ["database", "redis", "worker", "beat", "queues", "disk"]
    connected = {name for name, one in found.items() if one["status"] == "connected"}
    assert connected >= {"database", "redis", "queues", "disk"}
    assert found["disk"]["details"]["free_mb"] > 0
    # Another test may have left a worker running; the verdict must agree with what was found.
    quick = found["database"]["response_time_ms"] < SLOW_DATABASE_MS
    assert body["status"] == ("healthy" if len(connected) == len(found) and quick else "degraded")
    assert answer.status_code == 200


async def test_what_a_round_of_the_workers_published_is_answered_with_its_age(
    runtime: Runtime, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S0-079, S0-072
    pipelines = {
        "rag_basic": PipelineHealth(HealthStatus.HEALTHY, canary_ms=12),
        "rag_crag": PipelineHealth(HealthStatus.DEGRADED, error="2 of its last 4 queries failed"),
    }
    up = Dependency(DependencyStatus.CONNECTED, response_time_ms=1)
    report = assess({"database": up, "redis": up}, pipelines)
    await publish(runtime, replace(report, source=Source.SNAPSHOT))
    watch(monkeypatch, runtime, Answering(), Hanging())
    assert snapshot._watch is not None
    await snapshot._watch.look()
    body = (await async_client.get("/health")).json()
    assert (body["status"], body["state"]) == ("degraded", "DEGRADED")
    assert body["source"] == "snapshot"
    assert 0 <= body["age_seconds"] < 60
    assert body["pipelines"] == {"rag_basic": "healthy", "rag_crag": "degraded"}
    told = (await async_client.get("/health/pipelines")).json()
    assert told["status"] == "degraded"
    assert told["pipelines"]["rag_basic"]["canary_ms"] == 12
    assert told["pipelines"]["rag_crag"]["error"] == "2 of its last 4 queries failed"
    assert told["timestamp"] == body["timestamp"]


async def test_liveness_looks_at_nothing_and_readiness_at_what_calls_need(
    runtime: Runtime, async_client: AsyncClient, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(runtime, monitoring_dependency_timeout_ms=20)
    hung = HungDatabase()
    watch(monkeypatch, runtime, hung, Redis(redis_url))
    try:
        live = await async_client.get("/health/live")
        unready = await async_client.get("/health/ready")
    finally:
        hung.release.set()
    assert (live.status_code, live.json()["status"]) == (200, "live")
    assert (unready.status_code, unready.json()["status"]) == (503, "not ready")
    watch(monkeypatch, runtime, Answering(), Redis(redis_url))
    ready = await async_client.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    runtime.state = ServiceState.SHUTTING_DOWN
    assert (await async_client.get("/health/ready")).status_code == 503
    assert (await async_client.get("/health/live")).status_code == 200


async def test_other_methods_are_refused_in_the_envelope(
    runtime: Runtime, async_client: AsyncClient
) -> None:
    answer = await async_client.post("/health")
    assert answer.status_code == 405
    assert answer.json()["code"] == "INVALID_ARGUMENTS"


@pytest.mark.parametrize("accept", ["*/*", "text/plain", "application/openmetrics-text;q=0.5"])
async def test_metrics_are_text_for_whatever_a_scraper_accepts(
    runtime: Runtime, async_client: AsyncClient, accept: str
) -> None:
    # S3-032
    answer = await async_client.get("/metrics", headers={"accept": accept})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "# TYPE controlplane_calls_in_flight gauge" in answer.content.decode()


async def test_metrics_switched_off_are_not_found_in_the_envelope(
    runtime: Runtime, async_client: AsyncClient
) -> None:
    # S3-032
    configure(runtime, monitoring_metrics_enabled=False)
    answer = await async_client.get("/metrics", headers={"accept": "text/plain"})
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["success"] is False
    assert answer.json()["code"] == "TOOL_NOT_FOUND"
