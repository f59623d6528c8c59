"""The trail while several change the same at once, and when a change breaks off in its middle."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.db.models.signals import post_save

from tests.factories import make_tool
from tests.trail import became, trail_of
from tools.models import AuditEntry, Tool, ToolVersion

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

CHANGES = 8


def test_changes_at_once_follow_each_other_without_a_gap() -> None:
    tool = make_tool(title="start")
    together = threading.Barrier(2)

    def change(person: str) -> None:
        together.wait(10)
        try:
            for number in range(CHANGES):
                row = Tool.objects.get(pk=tool.pk)
                row.title = f"{person} {number}"
                row.save(update_fields=["title", "updated_at"])
                Tool.objects.filter(pk=tool.pk).update(title=f"{person} {number} again")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as people:
        list(people.map(change, ("alice", "bob")))
    titles = [became(one, "title") for one in trail_of(tool)]
    assert len(titles) == 1 + 4 * CHANGES
    assert all(titles[n][1] == titles[n + 1][0] for n in range(len(titles) - 1))
    tool.refresh_from_db()
    assert titles[-1][1] == tool.title
    kept = list(ToolVersion.objects.filter(tool=tool).order_by("number"))
    assert [one.number for one in kept] == list(range(1, len(titles) + 1))
    assert [one.definition["title"] for one in kept] == [after for _, after in titles]


def test_a_change_that_breaks_off_leaves_neither_row_nor_entry() -> None:
    tool = make_tool(title="before")
    entries, versions = AuditEntry.objects.count(), ToolVersion.objects.count()

    def break_off(**_: Any) -> None:
        assert AuditEntry.objects.count() == entries + 1
        raise RuntimeError

    post_save.connect(break_off, sender=Tool)
    try:
        tool.title = "after"
        with pytest.raises(RuntimeError):
            tool.save()
    finally:
        post_save.disconnect(break_off, sender=Tool)
    assert Tool.objects.get(pk=tool.pk).title == "before"
    assert AuditEntry.objects.count() == entries
    assert ToolVersion.objects.count() == versions
