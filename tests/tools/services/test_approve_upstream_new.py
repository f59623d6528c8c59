"""Decisions on what servers newly offer, and on what cannot be held."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from tests.upstream_rows import definition, make_upstream, offers
from tools.models import UpstreamItem
from tools.selectors import load_catalogue
from tools.services.approve_upstream import (
    approve,
    approve_all,
    differences_of,
    reject,
    undecided,
)
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]
WORSE = definition("one", description="Does quite another thing.")
PROMPT = {"name": "ask", "description": "Asks somebody."}
RESOURCE = {"uri": "docs://one", "name": "one"}


def item(name: str = "one") -> UpstreamItem:
    found: UpstreamItem = UpstreamItem.objects.get(remote_name=name)
    return found


def served() -> set[str]:
    return set(load_catalogue().tools)


def test_waiting_things_of_every_kind_are_served_once_approved() -> None:
    server = make_upstream(slug="todo", new_items="wait")
    record_discovery("todo", offers("one", "two", prompts=(PROMPT,), resources=(RESOURCE,)))
    catalogue = load_catalogue()
    assert (catalogue.tools, catalogue.prompts, catalogue.resources) == ({}, {}, {})
    assert [one.where for one in differences_of(item("two"))][:2] == ["name", "description"]
    approve(item("two").pk, "ada")
    assert served() == {"two"}
    assert undecided().count() == 3
    assert len(approve_all(server.pk, "bob")) == 3
    catalogue = load_catalogue()
    assert set(catalogue.tools) == {"one", "two"}
    assert (set(catalogue.prompts), set(catalogue.resources)) == ({"ask"}, {"docs://one"})
    assert item("two").decided_by == "ada"


def test_approving_everything_leaves_other_servers_and_rejected_things_alone() -> None:
    server = make_upstream(slug="todo", new_items="wait")
    make_upstream(slug="other", new_items="wait")
    record_discovery("todo", offers("one", "two"))
    record_discovery("other", offers("three"))
    reject(item("two").pk, "ada")
    assert [row.remote_name for row in approve_all(server.pk, "ada")] == ["one"]
    assert served() == {"one"}
    assert [row.remote_name for row in undecided()] == ["three"]


def test_a_waiting_tool_is_approved_as_it_was_offered_last() -> None:
    make_upstream(slug="todo", new_items="wait")
    record_discovery("todo", offers("one"))
    record_discovery("todo", offers(WORSE))
    approve(item().pk, "ada")
    assert load_catalogue().tools["one"].description == WORSE["description"]


@pytest.mark.parametrize("known", [True, False])
def test_a_definition_that_is_too_large_cannot_be_approved(known: bool) -> None:
    make_upstream(slug="todo", new_items="pass" if known else "wait")
    large: dict[str, Any] = definition("one", description="x" * 600_000)
    if known:
        record_discovery("todo", offers("one"))
    record_discovery("todo", offers(large))
    with pytest.raises(ValidationError, match="larger than 512 KiB"):
        approve(item().pk, "ada")
    assert served() == set()
    assert item().undecided
    reject(item().pk, "ada")
    assert not item().undecided


def test_what_could_not_be_represented_is_approved_once_it_can_be() -> None:
    make_upstream(slug="first")
    record_discovery("first", offers(resources=(RESOURCE,)))
    make_upstream(slug="second", new_items="wait")
    record_discovery("second", offers(resources=(RESOURCE,)))
    waiting = undecided().get()
    with pytest.raises(ValidationError, match="Another resource has this address"):
        approve(waiting.pk, "ada")
    UpstreamItem.objects.get(server__slug="first").server.delete()
    assert approve(waiting.pk, "ada").problem == ""
    assert set(load_catalogue().resources) == {"docs://one"}
