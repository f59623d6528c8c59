"""What an offer of an upstream server may be, and what goes with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model

from tests.factories import make_tool
from tests.tools.models.refusals import database_refuses, database_refuses_change
from tests.upstream_rows import make_upstream, offers
from tools.models import Prompt, Resource, Tool, UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]
PROMPT = {"name": "ask", "description": "Asks somebody."}
RESOURCE = {"uri": "docs://one", "name": "one"}
TEMPLATE = {"uriTemplate": "docs://{page}", "name": "page"}


def item(server: UpstreamServer, **changes: Any) -> UpstreamItem:
    values = {"kind": "tool", "remote_name": "one", "state": "approved", **changes}
    return UpstreamItem(server=server, **values)


def everything() -> tuple[UpstreamServer, Any]:
    server = make_upstream(slug="todo")
    found = offers("one", "two", prompts=(PROMPT,), resources=(RESOURCE,), templates=(TEMPLATE,))
    record_discovery("todo", found)
    return server, found


def test_each_thing_is_known_once_per_server_and_kind() -> None:
    # S2-019
    server, other = make_upstream(), make_upstream()
    item(server).save()
    item(other).save()
    item(server, kind="prompt").save()
    database_refuses(item(server))
    assert UpstreamItem.objects.count() == 3


@pytest.mark.parametrize("change", [{"kind": "spoon"}, {"state": "perhaps"}])
def test_unknown_kinds_and_states_are_refused(change: dict[str, str]) -> None:
    database_refuses(item(make_upstream(), **change))


def test_an_offer_stands_for_one_row_at_most() -> None:
    everything()
    row = UpstreamItem.objects.get(remote_name="one")
    database_refuses_change(row, resource=Resource.objects.get(uri="docs://one"))
    assert row.row == Tool.objects.get(name="one")


@pytest.mark.parametrize(
    ("state", "offered", "rejected", "undecided"),
    [
        ("waiting", "a", "", True),
        ("changed", "a", "", True),
        ("changed", "a", "b", True),
        ("changed", "a", "a", False),
        ("waiting", "a", "a", False),
        ("approved", "", "", False),
        ("gone", "a", "", False),
    ],
)
def test_an_offer_is_undecided_until_somebody_says_something(
    state: str, offered: str, rejected: str, undecided: bool
) -> None:
    row = item(make_upstream(), state=state, offered_hash=offered, rejected_hash=rejected)
    assert row.undecided is undecided


def test_deleting_a_server_removes_its_rows_and_nobody_elses() -> None:
    make_tool(name="ours")
    server, _ = everything()
    make_upstream(slug="other")
    record_discovery("other", offers("three"))
    server.delete()
    assert set(Tool.objects.values_list("name", flat=True)) == {"ours", "three"}
    assert (Prompt.objects.count(), Resource.objects.count()) == (0, 0)
    assert [row.remote_name for row in UpstreamItem.objects.all()] == ["three"]


def test_deleting_servers_in_bulk_removes_their_rows_too() -> None:
    everything()
    UpstreamServer.objects.all().delete()
    assert (Tool.objects.count(), Prompt.objects.count(), Resource.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Tool, "name", "one"),
        (Prompt, "name", "ask"),
        (Resource, "uri", "docs://one"),
        (Resource, "uri", "docs://{page}"),
    ],
)
def test_a_row_deleted_by_hand_comes_back_with_the_next_discovery(
    model: type[Model], field: str, value: str
) -> None:
    _, found = everything()
    rows: Any = model._default_manager.filter(**{field: value})
    rows.get().delete()
    assert UpstreamItem.objects.count() == 4
    assert len(record_discovery("todo", found).changes.added) == 1
    assert rows.exists()
    assert record_discovery("todo", found).unchanged


def test_an_offer_deleted_by_hand_takes_its_row_along_and_comes_back_as_it_was() -> None:
    _, found = everything()
    UpstreamItem.objects.get(remote_name="one").delete()
    assert set(load_catalogue().tools) == {"two"}
    record_discovery("todo", found)
    assert set(load_catalogue().tools) == {"one", "two"}
    UpstreamItem.objects.filter(kind="tool").delete()
    assert not Tool.objects.exists()
