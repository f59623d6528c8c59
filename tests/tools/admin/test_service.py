"""Service configuration in the admin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from tests.factories import make_service
from tests.tools.admin.pages import act, address, submit, text
from tools.conf import deployment
from tools.models import CatalogState, ServiceConfiguration

pytestmark = pytest.mark.django_db


@pytest.fixture
def port_override(settings: Settings) -> Iterator[None]:
    overrides = {"SERVICE__PORT": "9999"}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "SERVICE_OVERRIDES": overrides}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


def test_service_is_added_and_listed(admin_client: Client) -> None:
    # S3-071
    submit(
        admin_client,
        address(ServiceConfiguration, "add"),
        service_name="todo-server",
        dependencies='{"memgraph": {"host": "localhost", "port": 7687}}',
        cors_allowed_origins='["https://app.example"]',
    )
    row = ServiceConfiguration.objects.get()
    assert row.dependencies == {"memgraph": {"host": "localhost", "port": 7687}}
    assert row.cors_allowed_origins == ["https://app.example"]
    listed = text(admin_client.get(address(ServiceConfiguration, "changelist")))
    assert "todo-server" in listed
    assert "127.0.0.1:8000" in listed


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("service_name", "Todo Server", "Use lower-case letters, digits and hyphens"),
        ("service_port", "1023", "greater than or equal to 1024"),
        ("service_port", "65536", "less than or equal to 65535"),
        ("service_host", "0.0.0.0", "needs API keys on"),  # noqa: S104
        ("service_host", "two words", "must be an address to listen on"),
        ("monitoring_health_check_interval", "9", "greater than or equal to 10"),
        ("security_rate_limit", "9", "greater than or equal to 10"),
        ("dependencies", "[1]", "Must be a JSON object"),
        ("dependencies", "{", "Not valid JSON at line 1, column 2"),
        ("cors_allowed_origins", '["*"]', "is not an origin"),
    ],
)
def test_wrong_value_is_told_and_nothing_is_saved(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    # S3-029 S3-030 S3-033 S3-035 C19
    row = make_service()
    before = ServiceConfiguration.objects.values().get()
    response = submit(
        admin_client, address(ServiceConfiguration, "change", row.pk), **{field: value}
    )
    assert told in text(response)
    assert ServiceConfiguration.objects.values().get() == before


def test_change_is_announced(admin_client: Client) -> None:
    row = make_service()
    version = CatalogState.objects.get().version
    url = address(ServiceConfiguration, "change", row.pk)
    submit(admin_client, url, security_api_keys_enabled="on", service_host="0.0.0.0")  # noqa: S104
    row.refresh_from_db()
    assert row.security_api_keys_enabled
    assert CatalogState.objects.get().version > version


@pytest.mark.usefixtures("port_override")
def test_page_says_what_the_environment_overrides(admin_client: Client) -> None:
    # F3-12
    row = make_service()
    assert "SERVICE__PORT=9999" in text(
        admin_client.get(address(ServiceConfiguration, "change", row.pk))
    )


def test_last_configuration_cannot_be_deleted(admin_client: Client) -> None:
    row = make_service()
    assert (
        admin_client.post(
            address(ServiceConfiguration, "delete", row.pk), {"post": "yes"}
        ).status_code
        == 403
    )
    other = make_service(service_name="other")
    admin_client.post(address(ServiceConfiguration, "delete", other.pk), {"post": "yes"})
    assert list(ServiceConfiguration.objects.all()) == [row]


def test_all_configurations_at_once_cannot_be_deleted(admin_client: Client) -> None:
    rows = [make_service(), make_service(service_name="other")]
    act(admin_client, ServiceConfiguration, "delete_selected", *rows)
    assert ServiceConfiguration.objects.count() == 2
