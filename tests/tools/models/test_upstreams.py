"""What an upstream server may be: its names, its limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.upstreams import Era, Upstream, UpstreamTransport

pytestmark = pytest.mark.django_db
URL = "https://mcp.example.org/mcp"


def server(**changes: Any) -> UpstreamServer:
    return UpstreamServer(**{"slug": "todo", "url": URL, **changes})


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
    # C13
    assert model_refuses(server(slug=slug), "slug")


def test_slug_is_unique_and_the_name_is_free() -> None:
    # S2-003, C13
    row = make_upstream(slug="todo-1", display_name="TodoDatabaseServer")
    assert (str(row), row.to_value().name) == ("TodoDatabaseServer", "TodoDatabaseServer")
    assert str(make_upstream(slug="plain")) == "plain"
    assert model_refuses(server(slug="todo-1"), "slug")
    database_refuses(server(slug="todo-1"))


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
