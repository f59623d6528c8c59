"""Processes that discover, decide and save at the same time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connections, transaction

from tests.factories import tool_values
from tests.postgres_waiting import somebody_waits
from tests.processes import wait_until
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import Tool, UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue
from tools.services.announce_change import announce_change
from tools.services.approve_upstream import Outdated, approve
from tools.services.save_upstream import save_upstream
from tools.services.sync_upstream import UnknownServer, record_discovery

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

AT_ONCE = 6


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each gives, or how it fails, when all begin together, each on a connection of its own."""
    start = Event()
    results: list[Any] = [None] * len(works)

    def run(place: int) -> None:
        try:
            start.wait()
            results[place] = works[place]()
        except Exception as fault:  # noqa: BLE001 - looked at by the test
            results[place] = fault
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    start.set()
    for thread in threads:
        thread.join(60)
    return results


def test_processes_that_find_the_same_at_the_same_time_record_it_once() -> None:
    # S2-019, S2-021
    make_upstream(slug="todo")
    names = [f"tool_{number}" for number in range(40)]
    found = offers(
        *names, prompts=({"name": "ask"},), resources=({"uri": "docs://1", "name": "1"},)
    )
    reports = at_once(*[lambda: record_discovery("todo", found)] * AT_ONCE)
    assert sorted(len(report.changes.added) for report in reports) == [0] * (AT_ONCE - 1) + [42]
    assert sum(report.unchanged for report in reports) == AT_ONCE - 1
    assert set(load_catalogue().tools) == set(names)


def test_servers_that_offer_the_same_names_at_the_same_time_all_get_names() -> None:
    # S2-019, C01
    slugs = [make_upstream(slug=f"server-{number}").slug for number in range(AT_ONCE)]
    works = [lambda slug=slug: record_discovery(slug, offers("search", "fetch")) for slug in slugs]
    assert all(len(report.changes.added) == 2 for report in at_once(*works))
    tools = load_catalogue().tools
    assert len(tools) == 2 * AT_ONCE
    assert {"search", "fetch"} < set(tools)
    bound = {(spec.binding["server"].slug, spec.binding["remote_name"]) for spec in tools.values()}
    assert len(bound) == 2 * AT_ONCE


def test_only_one_of_two_decisions_at_the_same_time_counts() -> None:
    make_upstream(slug="todo", new_items="wait")
    record_discovery("todo", offers("one"))
    pk = UpstreamItem.objects.get().pk
    results = at_once(*[lambda: approve(pk, "ada")] * AT_ONCE)
    assert sum(isinstance(one, Outdated) for one in results) == AT_ONCE - 1
    assert set(load_catalogue().tools) == {"one"}


def test_a_server_deleted_while_it_is_discovered_leaves_nothing() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    found = offers("one", "three", "four")
    deleted, *recorded = at_once(server.delete, *[lambda: record_discovery("todo", found)] * 3)
    assert not isinstance(deleted, Exception)
    assert all(isinstance(one, UnknownServer) or not isinstance(one, Exception) for one in recorded)
    assert not UpstreamServer.objects.exists()
    assert not Tool.objects.exists()


def later_limit() -> None:
    server = UpstreamServer.objects.get(slug="todo")
    server.call_timeout = 9
    save_upstream(server)


@pytest.mark.on_database("postgresql")
@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (
            lambda: record_discovery("todo", offers(definition("one", _meta={"tags": ["new"]}))),
            {"tags": ["new"]},
        ),
        (later_limit, {"timeout_seconds": 9}),
    ],
    ids=["discovery", "saving"],
)
def test_who_changes_a_server_waits_for_who_saves_one_of_its_tools_and_neither_fails(
    work: Callable[[], Any], expected: dict[str, Any]
) -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers("one"))
    results: list[Any] = []
    waiting = Thread(target=lambda: results.extend(at_once(work)))
    with transaction.atomic():
        # As saving does: the row first, the catalogue's number afterwards.
        Tool._base_manager.filter(name="one").update(title="Ours")
        waiting.start()
        wait_until(somebody_waits, what="somebody who waits")
        announce_change()
    waiting.join(60)
    assert not isinstance(results[0], Exception), results[0]
    tool = Tool.objects.get(name="one")
    assert (tool.title, {name: getattr(tool, name) for name in expected}) == ("Ours", expected)


@pytest.mark.on_database("postgresql")
def test_a_name_that_somebody_takes_meanwhile_is_given_way_to() -> None:
    # C01
    make_upstream(slug="todo")
    results: list[Any] = []
    found = offers("one")
    waiting = Thread(
        target=lambda: results.extend(at_once(lambda: record_discovery("todo", found)))
    )
    with transaction.atomic():
        # As saving does: the row first, the catalogue's number afterwards.
        Tool._base_manager.bulk_create([Tool(**tool_values(name="one"))])
        waiting.start()
        wait_until(somebody_waits, what="a discovery that waits")
        announce_change()
    waiting.join(60)
    assert not isinstance(results[0], Exception), results[0]
    assert set(Tool.objects.values_list("name", flat=True)) == {"one", "todo__one"}
