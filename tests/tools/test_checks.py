"""System checks: what they find, and that they keep quiet where they must."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core import checks
from django.db import connection
from pytest_django import Settings

from tests.factories import make_service, make_tool, prompt_values, resource_values, tool_values
from tools.conf import deployment
from tools.models import Prompt, Resource, Tool

pytestmark = pytest.mark.django_db

Change = Callable[..., None]


@pytest.fixture
def control_plane(settings: Settings) -> Iterator[Change]:
    """Changes what the environment fixed."""

    def change(**values: Any) -> None:
        settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, **values}
        deployment.cache_clear()

    yield change
    deployment.cache_clear()


def found(*, databases: list[str] | None = None) -> list[str]:
    """Ids of our checks' messages, with the message."""
    messages = checks.run_checks(databases=databases)
    return [str(message.id) for message in messages if str(message.id).startswith("tools.")]


def test_sound_installation_passes() -> None:
    make_service()
    make_tool()
    assert found(databases=["default"]) == []


def test_each_wrong_override_is_an_error(control_plane: Change) -> None:
    # F3-12
    control_plane(SERVICE_OVERRIDES={"SERVICE__PORT": "80", "SECURITY__RATE_LIMIT": "9"})
    messages = [message for message in checks.run_checks() if message.id == "tools.E001"]
    assert [message.msg.split(" ")[0] for message in messages] == [
        "SERVICE__PORT",
        "SECURITY__RATE_LIMIT",
    ]
    assert found(databases=["default"]) == ["tools.E001", "tools.E001"]


@pytest.mark.parametrize(
    ("overrides", "keys_in_row", "allowed", "ids"),
    [
        ({"SERVICE__HOST": "0.0.0.0"}, False, False, ["tools.E002"]),  # noqa: S104
        ({"SERVICE__HOST": "0.0.0.0"}, True, False, []),  # noqa: S104
        ({"SERVICE__HOST": "0.0.0.0"}, False, True, []),  # noqa: S104
        ({"SERVICE__HOST": "::1"}, False, False, []),
        (
            {"SERVICE__HOST": "10.0.0.1", "SECURITY__API_KEYS_ENABLED": "false"},
            True,
            False,
            ["tools.E002"],
        ),
    ],
)
def test_network_without_keys_is_an_error(
    control_plane: Change,
    overrides: dict[str, str],
    keys_in_row: bool,
    allowed: bool,
    ids: list[str],
) -> None:
    # C19 C20
    make_service(security_api_keys_enabled=keys_in_row)
    control_plane(SERVICE_OVERRIDES=overrides, ALLOW_KEYLESS_NETWORK=allowed)
    assert found(databases=["default"]) == ids
    assert found() == []


def test_bad_tool_row_is_a_warning_that_names_it() -> None:
    Tool.objects.bulk_create([Tool(**tool_values(name="bent", tags={"no": "list"}))])
    (message,) = [
        message
        for message in checks.run_checks(databases=["default"])
        if message.id == "tools.W001"
    ]
    assert "bent" in message.msg
    assert "tags" in message.msg


def test_bad_prompt_or_resource_is_a_warning_that_names_it() -> None:
    Prompt.objects.bulk_create([Prompt(**prompt_values(name="bent", arguments=5))])
    Prompt.objects.bulk_create([Prompt(**prompt_values(name="off", arguments=5, enabled=False))])
    Resource.objects.bulk_create([Resource(**resource_values(uri="docs://bent", audience=5))])
    told = [
        message.msg
        for message in checks.run_checks(databases=["default"])
        if message.id == "tools.W002"
    ]
    assert [message.split(" is bad")[0] for message in told] == [
        "The prompt bent",
        "The resource docs://bent",
    ]


def test_bad_tool_is_not_looked_for_unless_the_database_is_checked() -> None:
    make_tool(source="builtin", handler="nothing")
    assert found() == []


def test_table_older_than_the_code_does_not_stop_a_migration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE tools_serviceconfiguration")
    assert found(databases=["default"]) == []
