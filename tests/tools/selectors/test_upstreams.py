"""Upstream servers as the catalogue holds them, and what rows are bound to."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.factories import make_tool
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import Tool, UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue
from tools.selectors.upstreams import enabled_upstreams, upstream_binding
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_servers_that_are_on_are_given_by_key_with_their_breakers() -> None:
    # S2-044, S2-047, S2-049
    one = make_upstream(slug="one", failure_threshold=3, recovery_timeout=60)
    two = make_upstream(slug="two")
    make_upstream(slug="off", enabled=False)
    servers, breakers = enabled_upstreams()
    assert servers == {one.pk: one.to_value(), two.pk: two.to_value()}
    assert breakers == {"mcp:one": (3, 60.0), "mcp:two": (5, 30.0)}


def test_a_server_whose_row_makes_no_sense_is_left_out_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, sound = make_upstream(slug="broken"), make_upstream(slug="sound")
    record_discovery("broken", offers("one"))
    record_discovery("sound", offers("two"))
    UpstreamServer._base_manager.filter(pk=broken.pk).update(era="stone age")
    with caplog.at_level(logging.ERROR):
        catalogue = load_catalogue()
    assert set(catalogue.tools) == {"two"}
    assert catalogue.upstreams == {"sound": sound.to_value()}
    assert "'broken' is left out of the catalogue" in caplog.text


def test_a_row_of_ours_is_bound_to_no_server() -> None:
    assert upstream_binding(make_tool(name="ours"), {}) == {}


def test_a_row_is_bound_to_its_server_its_name_there_and_what_was_approved() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("a-b"))
    row, item = Tool.objects.get(name="a_b"), UpstreamItem.objects.get()
    assert upstream_binding(row, {server.pk: server.to_value()}) == {
        "server": server.to_value(),
        "remote_name": "a-b",
        "fingerprint": item.approved_hash,
    }
    with pytest.raises(ValueError, match="its MCP server cannot be used"):
        upstream_binding(row, {})


def test_the_catalogue_is_read_in_as_many_queries_however_much_there_is(
    django_assert_max_num_queries: Any,
) -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers("one"))
    with django_assert_max_num_queries(50) as few:
        load_catalogue()
    record_discovery("todo", offers(*(definition(f"tool_{number}") for number in range(60))))
    with django_assert_max_num_queries(len(few)):
        assert len(load_catalogue().tools) >= 60


@pytest.mark.parametrize("state", ["waiting", "changed", "gone"])
def test_only_what_is_approved_is_served(state: str) -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    UpstreamItem.objects.filter(remote_name="one").update(state=state)
    assert set(load_catalogue().tools) == {"two"}
