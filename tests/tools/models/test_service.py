"""What a service configuration may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.factories import make_service
from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tools.conf import ServiceSettings, deployment
from tools.models import ServiceConfiguration

pytestmark = pytest.mark.django_db

EVERYWHERE = "0.0.0.0"  # noqa: S104


@pytest.fixture
def keyless_network_allowed(settings: Settings) -> Iterator[None]:
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "ALLOW_KEYLESS_NETWORK": True}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


@pytest.mark.parametrize(
    "name", ["", "Todo", "1todo", "-todo", "to_do", "to do", "todo\n", "tödo", "t" * 65]
)
def test_name_outside_the_pattern_is_refused(name: str) -> None:
    # S3-029 C13
    row = ServiceConfiguration(service_name=name)
    assert model_refuses(row, "service_name")
    database_refuses(row)


def test_name_is_unique() -> None:
    make_service(service_name="todo-1")
    row = ServiceConfiguration(service_name="todo-1")
    assert model_refuses(row, "service_name")
    database_refuses(row)


@pytest.mark.parametrize(
    ("field", "bad", "good"),
    [
        ("service_port", 1023, 1024),
        ("service_port", 65536, 65535),
        ("service_host", "", "localhost"),
        ("service_host", "two words", "::1"),
        ("service_host", "127.0.0.1\n", "127.0.0.1"),
        ("monitoring_health_check_interval", 9, 10),
        ("monitoring_dependency_timeout_ms", 9, 10),
        ("monitoring_dependency_timeout_ms", 60_001, 60_000),
        ("security_rate_limit", 9, 10),
        ("server_workers", 0, 1),
        ("server_workers", 65, 64),
        ("server_timeout", 0, 1),
        ("server_timeout", 301, 300),
        ("server_graceful_shutdown_seconds", 0, 1),
        ("server_graceful_shutdown_seconds", 61, 60),
        ("logging_level", "LOUD", "DEBUG"),
    ],
)
def test_limits_hold_at_their_edges(field: str, bad: Any, good: Any) -> None:
    # S3-030 S3-031 S3-033 S3-035
    row = ServiceConfiguration(service_name="todo", security_api_keys_enabled=True, **{field: bad})
    assert model_refuses(row, field)
    made = make_service(**{field: good})
    database_refuses_change(made, **{field: bad})


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("cors_allowed_origins", ["*"]),
        ("cors_allowed_origins", "https://a.example"),
        ("cors_allowed_origins", 5),
        ("dependencies", ["memgraph"]),
        ("dependencies", {"memgraph": float("nan")}),
    ],
)
def test_json_fields_have_their_shape(field: str, bad: Any) -> None:
    # S3-036
    assert model_refuses(ServiceConfiguration(service_name="todo", **{field: bad}), field)


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "10.0.0.7", "svc.internal"])
def test_listening_beyond_this_machine_needs_keys(host: str) -> None:
    # C19 C20 S3-031 S3-034
    row = ServiceConfiguration(service_name="todo", service_host=host)
    (message,) = model_refuses(row, "service_host")
    assert "needs API keys on" in message
    row.security_api_keys_enabled = True
    row.save()


@pytest.mark.usefixtures("keyless_network_allowed")
def test_keyless_network_can_be_allowed_by_the_environment() -> None:
    # C19
    assert make_service(service_host=EVERYWHERE).pk


def test_row_is_the_settings_the_program_reads() -> None:
    # S3-071
    row = make_service(
        service_name="todo",
        security_api_keys_enabled=True,
        cors_allowed_origins=["https://a.example"],
        dependencies={"memgraph": {"port": 7687}},
    )
    assert ServiceConfiguration.objects.get(pk=row.pk).to_settings() == ServiceSettings(
        service_name="todo",
        security_api_keys_enabled=True,
        cors_allowed_origins=("https://a.example",),
        dependencies={"memgraph": {"port": 7687}},
    )
