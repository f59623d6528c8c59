"""Servers that offer nothing, fail, are or are switched off."""

from __future__ import annotations

import pytest

from tests.tools.services.offered import PROMPT, RESOURCE, served
from tests.upstream_rows import make_upstream, offers
from tools.selectors import catalogue_version, load_catalogue
from tools.services.sync_upstream import (
    NO_TOOLS,
    UnknownServer,
    record_discovery,
    record_failure,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_zero_tools_are_warned_about() -> None:
    # F2-19, C18
    server = make_upstream(slug="todo")
    record_discovery("todo", offers())
    server.refresh_from_db()
    assert server.last_discovery["ok"]
    assert server.last_discovery["warnings"] == [NO_TOOLS]
    assert server.last_discovery["counts"]["tools"] == 0
    assert NO_TOOLS == "No MCP tools available"


def test_a_failure_is_written_down_and_keeps_what_is_known() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("one"))
    version = catalogue_version()
    record_failure("todo", "It cannot be reached")
    server.refresh_from_db()
    assert (server.last_discovery["ok"], server.last_discovery["message"]) == (
        False,
        "It cannot be reached",
    )
    assert server.last_discovery["counts"]["tools"] == 1
    assert (served(), catalogue_version()) == ({"one"}, version)
    record_discovery("todo", offers("one"))
    server.refresh_from_db()
    assert server.last_discovery["ok"]


def test_a_server_that_was_deleted_meanwhile_is_said_to_be_unknown() -> None:
    with pytest.raises(UnknownServer):
        record_discovery("nobody", offers("one"))
    with pytest.raises(UnknownServer):
        record_failure("nobody", "x")


def test_a_server_that_is_switched_off_is_not_served() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("one", prompts=(PROMPT,), resources=(RESOURCE,)))
    server.enabled = False
    server.save()
    catalogue = load_catalogue()
    assert (catalogue.tools, catalogue.prompts, catalogue.resources) == ({}, {}, {})
    assert (catalogue.upstreams, catalogue.breakers) == ({}, {})
