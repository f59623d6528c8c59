"""What servers newly offer, and what follows them without being asked."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from tests.factories import make_tool
from tests.tools.services.offered import META, item, served
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import Tool
from tools.selectors import load_catalogue
from tools.services.sync_upstream import (
    record_discovery,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


@pytest.mark.parametrize(("setting", "expected"), [("pass", {"one", "two"}), ("wait", set())])
def test_new_tools_wait_or_pass_as_the_server_is_set(setting: str, expected: set[str]) -> None:
    server = make_upstream(slug="todo", new_items=setting)
    record_discovery("todo", offers("one"))
    report = record_discovery("todo", offers("one", "two"))
    assert served() == expected
    assert report.changes.waiting == ([] if setting == "pass" else ["tool two"])
    assert item(server, "two").undecided is (setting == "wait")


def test_a_known_server_set_to_wait_keeps_what_was_approved() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers("one"))
    server.new_items = "wait"
    server.save()
    record_discovery("todo", offers("one", "two"))
    assert served() == {"one"}


def test_a_waiting_tool_follows_its_server_until_it_is_approved() -> None:
    server = make_upstream(slug="todo", new_items="wait")
    record_discovery("todo", offers("one"))
    record_discovery("todo", offers(definition("one", description="A better description.")))
    row = item(server, "one")
    assert (row.state, row.approved_hash) == ("waiting", "")
    assert row.tool is not None
    assert row.tool.description == "A better description."


def test_tags_and_metadata_follow_the_server_unless_an_operator_changed_them() -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers(definition("one", _meta=META), definition("two", _meta=META)))
    edited = Tool.objects.get(name="two")
    edited.tags = ["mine"]
    edited.save()
    newer = {"_fastmcp": {"tags": ["new"]}, "version": "2.0"}
    record_discovery("todo", offers(definition("one", _meta=newer), definition("two", _meta=newer)))
    one, two = (load_catalogue().tools[name] for name in ("one", "two"))
    assert (one.tags, one.metadata["version"]) == (("new",), "2.0")
    assert (two.tags, two.metadata["version"]) == (("mine",), "2.0")


def test_a_name_that_is_taken_gets_the_name_of_its_server(caplog: pytest.LogCaptureFixture) -> None:
    # S2-019, C01
    make_tool(name="search")
    make_upstream(slug="first")
    make_upstream(slug="second-one")
    record_discovery("first", offers("search", "fetch"))
    report = record_discovery("second-one", offers("fetch"))
    assert served() >= {"search", "first__search", "fetch", "second_one__fetch"}
    assert report.changes.warnings == ["tool fetch is named second_one__fetch: fetch was taken"]
    assert "second_one__fetch" in caplog.text


def test_names_have_the_prefix_of_their_server() -> None:
    # C01
    make_upstream(slug="todo", prefix="todo_")
    record_discovery("todo", offers("create", "todo_list", "a-b"))
    assert served() == {"todo_create", "todo_list", "todo_a_b"}
    tool = Tool.objects.get(name="todo_a_b")
    assert (tool.remote_name, tool.required_prefix) == ("a-b", "todo_")
    with transaction.atomic(), pytest.raises(IntegrityError):
        Tool.objects.filter(pk=tool.pk).update(name="a_b")
