"""What an upstream server may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from pytest_django import Settings

from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.upstreams import Era, Upstream, UpstreamTransport
from tools.vault import VaultFault, unseal

pytestmark = pytest.mark.django_db

URL = "https://mcp.example.org/mcp"
NETWORK = [one.value for one in UpstreamTransport if one is not UpstreamTransport.STDIO]


def server(**changes: Any) -> UpstreamServer:
    return UpstreamServer(**{"slug": "todo", "url": URL, **changes})


def stdio(**changes: Any) -> UpstreamServer:
    return server(**{"transport": "stdio", "command": "todo-server", "url": "", **changes})


def test_a_server_has_the_defaults_of_the_requirements() -> None:
    # S2-047, S2-049, C10, C14
    row = make_upstream()
    assert row.to_value() == Upstream(
        row.slug, UpstreamTransport.STREAMABLE_HTTP, url=URL, connect_timeout=5, call_timeout=5
    )
    assert (row.enabled, row.new_items, row.retries) == (True, "pass", 3)
    assert (row.failure_threshold, row.recovery_timeout) == (5, 30)


@pytest.mark.parametrize(
    "slug", ["", "Todo", "1todo", "-todo", "to_do", "to do", "todo\n", "tödo", "t" * 65]
)
def test_slug_outside_the_pattern_is_refused(slug: str) -> None:
    # S3-029, C13
    assert model_refuses(server(slug=slug), "slug")


def test_slug_is_unique_and_the_name_is_free() -> None:
    # S2-003, C13
    row = make_upstream(slug="todo-1", display_name="TodoDatabaseServer")
    assert (str(row), row.to_value().name) == ("TodoDatabaseServer", "TodoDatabaseServer")
    assert str(make_upstream(slug="plain")) == "plain"
    assert model_refuses(server(slug="todo-1"), "slug")
    database_refuses(server(slug="todo-1"))


def test_a_stdio_server_has_a_command_and_no_address() -> None:
    # S2-002, S2-014, C04
    stdio().save()
    assert model_refuses(stdio(slug="a", command=""), "command")
    assert model_refuses(stdio(slug="b", url=URL), "url")
    database_refuses(stdio(slug="a", command=""), "upstream_has_command_or_url")
    database_refuses(stdio(slug="b", url=URL), "upstream_has_command_or_url")


@pytest.mark.parametrize("transport", NETWORK)
def test_a_server_behind_the_network_has_an_address_and_no_command(transport: str) -> None:
    # S2-002, C04
    server(transport=transport).save()
    assert model_refuses(server(slug="a", transport=transport, url=""), "url")
    assert model_refuses(server(slug="b", transport=transport, command="x"), "command")
    database_refuses(server(slug="a", transport=transport, url=""), "upstream_has_command_or_url")
    database_refuses(server(slug="b", transport=transport, command="x"))


@pytest.mark.parametrize(
    ("written", "kept"), [("http-sse", "sse"), ("streamable-http", "streamable_http")]
)
def test_what_others_call_a_transport_is_understood(written: str, kept: str) -> None:
    # C04, S4-053
    row = make_upstream(transport=written)
    row.refresh_from_db()
    assert row.transport == kept


@pytest.mark.parametrize("transport", ["http", "carrier-pigeon", ""])
def test_an_unknown_transport_is_refused(transport: str) -> None:
    # C04
    assert model_refuses(server(transport=transport), "transport")
    database_refuses(server(transport=transport), "upstream_transport_known")


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://x", "http://", "http://x:0", "//", "http://[::1", "ürl://ü"]
)
def test_any_address_can_be_saved_and_is_warned_about(url: str) -> None:
    # S1-004, C11
    row = make_upstream(url=url)
    row.refresh_from_db()
    assert row.url == row.to_value().url == url
    assert address_warning(row.transport, url).startswith("The address does not look right")


def test_addresses_that_look_right_are_not_warned_about() -> None:
    # C11
    assert address_warning("streamable_http", URL) == ""
    assert address_warning("websocket", "wss://mcp.example.org/ws") == ""
    assert "ws:// or wss://" in address_warning("websocket", URL)
    assert "use headers" in address_warning("sse", "https://me:secret@x.example/sse")
    assert address_warning("streamable_http", "https://x.example/a b")
    assert address_warning("stdio", "anything") == ""


@pytest.mark.parametrize(
    ("field", "bad", "good"),
    [
        ("connect_timeout", 0, 1),
        ("connect_timeout", 61, 60),
        ("call_timeout", 0, 1),
        ("call_timeout", 61, 60),
        ("retries", 6, 5),
        ("failure_threshold", 0, 1),
        ("recovery_timeout", 0, 1),
    ],
)
def test_numbers_outside_their_limits_are_refused_by_the_database_too(
    field: str, bad: int, good: int
) -> None:
    # S2-047, S2-049, C10
    row = make_upstream(slug="sound", **{field: good})
    assert model_refuses(server(**{field: bad}), field)
    database_refuses(server(**{field: bad}))
    database_refuses_change(row, **{field: bad})


@pytest.mark.parametrize(
    ("field", "bad", "good"),
    [
        ("failure_threshold", 1001, 1000),
        ("recovery_timeout", 3601, 3600),
        ("memory_mb", 15, 16),
        ("idle_seconds", 604_801, 604_800),
        ("prefix", "1a_", "a1_"),
        ("prefix", "a-", "a_"),
        ("era", "stone age", Era.MODERN.value),
        ("new_items", "perhaps", "wait"),
        ("allowed_networks", ["10.0.0.0/33"], ["10.0.0.0/8", "::1/128"]),
        ("allowed_networks", "10.0.0.0/8", []),
    ],
)
def test_settings_that_make_no_sense_are_refused(field: str, bad: Any, good: Any) -> None:
    assert model_refuses(server(**{field: bad}), field)
    assert getattr(make_upstream(**{field: good}), field) == good


def test_headers_cannot_be_read_in_the_row_and_open_for_who_connects() -> None:
    row = make_upstream(slug="todo")
    row.set_headers({"Authorization": "Bearer hunter2", "X-Team": "a"})
    row.save()
    with connection.cursor() as cursor:
        cursor.execute("SELECT headers FROM tools_upstreamserver WHERE id = %s", [row.pk])
        (stored,) = cursor.fetchone()
    assert stored
    assert not any(word in stored for word in ("hunter2", "Authorization", "Bearer"))
    assert row.header_names() == ["Authorization", "X-Team"]
    assert json.loads(unseal(row.to_value().headers))["Authorization"] == "Bearer hunter2"
    assert "hunter2" not in repr(row.to_value())
    row.set_headers({})
    assert row.headers == ""


def test_variables_of_a_child_cannot_be_read_in_the_row() -> None:
    row = stdio()
    row.set_environment({"API_KEY": "hunter2"})
    row.save()
    stored = UpstreamServer.objects.values_list("environment", flat=True).get(pk=row.pk)
    assert "hunter2" not in stored
    assert "API_KEY" not in stored
    assert row.environment_names() == ["API_KEY"]
    assert stdio(slug="other").environment_names() == []


def test_what_was_sealed_with_a_lost_key_is_told(settings: Settings) -> None:
    row = make_upstream()
    row.set_headers({"X-Key": "hunter2"})
    settings.SECRET_KEY = "another-key-than-the-one-that-sealed-it"
    with pytest.raises(VaultFault) as told:
        row.header_names()
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    "headers",
    [
        {"bad name": "x"},
        {"X-Key": "hunter2\r\nX-Other: y"},
        {"X-Key": 7},
        {"X-Key": "hünter2"},
        {"Host": "hunter2"},
        {"Accept": "hunter2"},
        {"content-type": "hunter2"},
        {"Mcp-Session-Id": "hunter2"},
        {"MCP-Protocol-Version": "hunter2"},
        ["X-Key"],
        "X-Key: hunter2",
    ],
)
def test_headers_that_cannot_be_sent_are_refused_without_their_values(headers: Any) -> None:
    row = server()
    with pytest.raises(ValidationError) as refused:
        row.set_headers(headers)
    assert "hunter2" not in str(refused.value)
    assert row.headers == ""


@pytest.mark.parametrize(
    "environment", [{"A-B": "x"}, {"": "x"}, {"A": "hunter2\0"}, {"A": None}, ["A"], "A=hunter2"]
)
def test_variables_that_cannot_be_set_are_refused_without_their_values(environment: Any) -> None:
    row = stdio()
    with pytest.raises(ValidationError) as refused:
        row.set_environment(environment)
    assert "hunter2" not in str(refused.value)
