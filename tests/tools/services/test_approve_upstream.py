"""Decisions on what servers offer otherwise than before."""

from __future__ import annotations

import pytest

from tests.upstream_rows import definition, make_upstream, offers
from tools.models import Tool, UpstreamItem
from tools.selectors import catalogue_version, load_catalogue
from tools.services.approve_upstream import (
    Outdated,
    approve,
    differences_of,
    reject,
    undecided,
)
from tools.services.sync_upstream import record_discovery
from tools.upstreams import Kind, fingerprint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]
WORSE = definition("one", description="Does quite another thing.")
WORST = definition("one", description="Does the worst of all things.")


def item(name: str = "one") -> UpstreamItem:
    found: UpstreamItem = UpstreamItem.objects.get(remote_name=name)
    return found


def served() -> set[str]:
    return set(load_catalogue().tools)


@pytest.fixture
def changed() -> UpstreamItem:
    """A tool that its server has changed."""
    make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    record_discovery("todo", offers(WORSE, "two"))
    return item()


def test_an_approved_change_is_served_as_the_server_wrote_it(changed: UpstreamItem) -> None:
    version = catalogue_version()
    approve(changed.pk, "ada", seen=changed.offered_hash)
    spec = load_catalogue().tools["one"]
    assert spec.description == WORSE["description"]
    assert spec.binding["fingerprint"] == fingerprint(Kind.TOOL, WORSE)
    assert catalogue_version() > version
    row = item()
    assert (row.state, row.offered, row.offered_hash) == ("approved", None, "")
    assert (row.decided_by, row.undecided) == ("ada", False)
    assert row.decided_at is not None
    assert record_discovery("todo", offers(WORSE, "two"), noted=True).changes.changed == []


def test_what_an_operator_changed_in_the_row_survives_an_approval(changed: UpstreamItem) -> None:
    tool = Tool.objects.get(name="one")
    tool.description, tool.tags, tool.timeout_seconds = "Our own words for it.", ["mine"], 42
    tool.save()
    approve(changed.pk, "ada")
    spec = load_catalogue().tools["one"]
    assert (spec.description, spec.tags, spec.timeout_seconds) == (
        "Our own words for it.",
        ("mine",),
        42,
    )


def test_the_difference_is_what_the_server_says_otherwise(changed: UpstreamItem) -> None:
    (found,) = differences_of(changed)
    assert (found.where, found.new) == ("description", WORSE["description"])


def test_a_decision_on_what_has_changed_meanwhile_is_refused(changed: UpstreamItem) -> None:
    record_discovery("todo", offers(WORST, "two"))
    for decide in (approve, reject):
        with pytest.raises(Outdated):
            decide(changed.pk, "ada", seen=changed.offered_hash)
    assert served() == {"two"}
    assert item().rejected_hash == ""
    approve(changed.pk, "ada", seen=item().offered_hash)
    assert load_catalogue().tools["one"].description == WORST["description"]


def test_a_decision_on_what_was_taken_back_or_decided_is_refused(changed: UpstreamItem) -> None:
    record_discovery("todo", offers("one", "two"))
    with pytest.raises(Outdated):
        approve(changed.pk, "ada", seen=changed.offered_hash)
    with pytest.raises(Outdated):
        reject(item("two").pk, "ada")
    with pytest.raises(Outdated):
        approve(0, "ada")
    assert load_catalogue().tools["one"].description == "Does what one says it does."


def test_a_rejected_definition_stays_out_and_is_not_asked_about_again(
    changed: UpstreamItem,
) -> None:
    reject(changed.pk, "ada", seen=changed.offered_hash)
    assert (item().undecided, item().decided_by) == (False, "ada")
    for found in (offers(WORSE, "two"), offers("two"), offers(WORSE, "two")):
        record_discovery("todo", found, noted=True)
        assert served() == {"two"}
        assert not undecided().exists()


def test_another_change_after_a_rejection_is_asked_about(changed: UpstreamItem) -> None:
    reject(changed.pk, "ada")
    record_discovery("todo", offers(WORST, "two"))
    assert [row.remote_name for row in undecided()] == ["one"]
    record_discovery("todo", offers(WORSE, "two"))
    assert not undecided().exists()


def test_what_was_rejected_can_be_approved_after_all(changed: UpstreamItem) -> None:
    reject(changed.pk, "ada")
    approve(changed.pk, "bob", seen=changed.offered_hash)
    assert load_catalogue().tools["one"].description == WORSE["description"]
    assert (item().rejected_hash, item().decided_by) == ("", "bob")
