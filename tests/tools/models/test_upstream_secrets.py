"""Headers and variables of upstream servers: kept under seal, refused without being repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from pytest_django import Settings

from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.vault import VaultFault, unseal

pytestmark = pytest.mark.django_db
URL = "https://mcp.example.org/mcp"


def server(**changes: Any) -> UpstreamServer:
    return UpstreamServer(**{"slug": "todo", "url": URL, **changes})


def stdio(**changes: Any) -> UpstreamServer:
    return server(**{"transport": "stdio", "command": "todo-server", "url": "", **changes})


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
