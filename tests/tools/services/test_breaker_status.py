"""The breakers of all services, as operators see and reset them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from tests.failing_services import fail
from tests.upstream_rows import make_upstream
from tools.conf import deployment
from tools.guards.breaker import CircuitBreakerConfig
from tools.services.breaker_status import (
    BreakerState,
    RedisDown,
    ShownBreaker,
    breaker_status,
    reset_breaker,
)

pytestmark = pytest.mark.django_db


def shown() -> dict[str, ShownBreaker]:
    return {one.snapshot.service_name: one for one in breaker_status()}


def test_known_breakers_and_those_of_enabled_servers_are_listed(redis_url: str) -> None:
    # S2-043, S2-044
    make_upstream(slug="todo")
    make_upstream(slug="off", enabled=False)
    assert list(shown()) == ["mcp:todo"]
    fail(redis_url, "mcp:off", 1, CircuitBreakerConfig())
    fail(redis_url, "shop", 1, CircuitBreakerConfig())
    assert list(shown()) == ["mcp:off", "mcp:todo", "shop"]


def test_no_secrets_and_no_offers_are_read_for_it(redis_url: str) -> None:
    make_upstream(slug="todo", display_name="To do", last_discovery={"tools": []})
    with CaptureQueriesContext(connection) as made:
        (found,) = breaker_status()
        assert str(found.server) == "To do"
    (asked,) = made.captured_queries
    for column in ("environment", "headers", "last_discovery"):
        assert f'"{column}"' not in asked["sql"]


def test_open_breaker_tells_when_it_lets_a_call_try(redis_url: str) -> None:
    # S2-045, S2-046, S2-047, S2-048, S2-049, S2-050
    make_upstream(slug="todo", failure_threshold=2, recovery_timeout=40)
    assert shown()["mcp:todo"].snapshot.last_failure_time is None
    fail(redis_url, "mcp:todo", 2, CircuitBreakerConfig(2, 40.0), ago=10)
    found = shown()["mcp:todo"]
    wire = found.snapshot.to_wire()
    assert (wire["state"], wire["failure_count"], wire["failure_threshold"]) == ("OPEN", 2, 2)
    assert wire["recovery_timeout"] == "PT40S"
    assert found.snapshot.last_failure_time == found.snapshot.last_state_change
    left = found.next_probe - datetime.now(UTC) if found.next_probe else timedelta(0)
    assert timedelta(seconds=20) < left <= timedelta(seconds=30)


def test_breaker_whose_time_is_over_waits_for_a_probe(redis_url: str) -> None:
    make_upstream(slug="todo", failure_threshold=1, recovery_timeout=30)
    fail(redis_url, "mcp:todo", 1, CircuitBreakerConfig(1, 30.0), ago=60)
    found = shown()["mcp:todo"]
    assert (found.snapshot.state, found.next_probe) == (BreakerState.HALF_OPEN, None)


def test_reset_forgets_what_happened(redis_url: str) -> None:
    make_upstream(slug="todo", failure_threshold=1)
    fail(redis_url, "mcp:todo", 1, CircuitBreakerConfig(1, 30.0))
    assert reset_breaker("mcp:todo") is True
    found = shown()["mcp:todo"]
    assert (found.snapshot.state, found.snapshot.failure_count) == (BreakerState.CLOSED, 0)
    assert found.called is False
    assert reset_breaker("nobody") is False


def test_without_redis_nobody_knows(settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        with pytest.raises(RedisDown):
            breaker_status()
        with pytest.raises(RedisDown):
            reset_breaker("mcp:todo")
    finally:
        deployment.cache_clear()
