"""`prune_audit`: old entries go when an operator says so, and that is written down."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.factories import make_tool
from tests.trail import latest
from tools.models import AuditEntry, ToolVersion

pytestmark = pytest.mark.django_db


def prune(*arguments: str) -> str:
    out = StringIO()
    call_command("prune_audit", *arguments, stdout=out)
    return out.getvalue().strip()


@pytest.fixture
def entries() -> list[AuditEntry]:
    """One entry of today, one of last month, one of last year."""
    now = timezone.now()
    return [
        AuditEntry.objects.create(
            at=now - timedelta(days=days), actor_kind="worker", action="changed", kind="tools.tool"
        )
        for days in (0, 31, 400)
    ]


def test_old_entries_go_and_that_is_an_entry_itself(entries: list[AuditEntry]) -> None:
    assert (
        prune("--older-than", "365", "--dry-run")
        == "1 entry and 0 versions of tools would be removed"
    )
    assert AuditEntry.objects.count() == 3
    assert prune("--older-than", "365") == "1 entry and 0 versions of tools removed"
    assert latest().action == "pruned"
    assert latest().note.endswith("UTC: 1 removed.")
    assert set(AuditEntry.objects.exclude(action="pruned")) == set(entries[:2])
    assert prune("--older-than", "365") == "0 entries and 0 versions of tools removed"
    assert AuditEntry.objects.filter(action="pruned").count() == 1


def test_old_versions_go_but_the_newest_of_a_tool_stays() -> None:
    tool, quiet = make_tool(title="One"), make_tool()
    for title in ("Two", "Three"):
        tool.title = title
        tool.save()
    year = timezone.now() - timedelta(days=400)
    ToolVersion.objects.exclude(tool=tool, number__gt=1).update(at=year)
    told = "0 entries and 1 version of tools"
    assert prune("--older-than", "365", "--dry-run") == f"{told} would be removed"
    assert prune("--older-than", "365") == f"{told} removed"
    assert (latest().action, latest().kind) == ("pruned", "versions of tools")
    ToolVersion.objects.update(at=year)
    assert prune("--older-than", "365") == f"{told} removed"
    kept = ToolVersion.objects.order_by("tool").values_list("tool", "number")
    assert list(kept) == [(tool.pk, 3), (quiet.pk, 1)]
    tool.title = "Four"
    tool.save()
    assert tool.versions.filter(number=4).exists()


@pytest.mark.parametrize("days", ["0", "-1", "x", "", "99999999999"])
def test_a_number_of_days_that_is_none_is_refused(entries: list[AuditEntry], days: str) -> None:
    with pytest.raises(CommandError, match="must be a number of days"):
        prune("--older-than", days)
    assert AuditEntry.objects.count() == 3
