"""The history of health and its changes in the admin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from health.models import HealthSnapshot, StatusChange
from health.record import record
from tests.health.reports import full_report, report
from tests.tools.admin.pages import address, text
from tools.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_list_has_the_latest_first_with_reasons(admin_client: Client) -> None:
    # S0-014
    record(report(later=-2))
    record(report("worker", later=-1))
    page = admin_client.get(address(HealthSnapshot, "changelist"))
    assert [row.status for row in page.context["cl"].result_list] == ["degraded", "healthy"]
    assert "worker: worker is away" in text(page)


def test_list_is_filtered_by_status_and_time(admin_client: Client) -> None:
    record(report(later=-2))
    record(report("worker", later=-1))
    listing = address(HealthSnapshot, "changelist")
    found = admin_client.get(listing, {"status__exact": "degraded"}).context["cl"]
    assert [row.status for row in found.result_list] == ["degraded"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    none = admin_client.get(listing, {"taken_at__gte": tomorrow}).context["cl"]
    assert list(none.result_list) == []


@pytest.mark.parametrize("model", [HealthSnapshot, StatusChange, AuditEntry])
def test_a_filter_that_nothing_can_be_looked_for_by_ends_in_no_fault(
    admin_client: Client, model: type[Model]
) -> None:
    record(report(later=-2))
    record(report("worker", later=-1))
    at = {HealthSnapshot: "taken_at", StatusChange: "at", AuditEntry: "at"}[model]
    words = {HealthSnapshot: "status__exact", StatusChange: "name", AuditEntry: "kind"}[model]
    listing = address(model, "changelist")
    for odd in ({f"{at}__gte": "9999-12-31T23:59:59.999999-14:00"}, {words: "a\0b"}, {"q": "a\0b"}):
        answer = admin_client.get(listing, odd, follow=True)
        assert answer.status_code == 200, odd


def test_one_round_is_shown_as_tables(admin_client: Client) -> None:
    record(full_report())
    row = HealthSnapshot.objects.get()
    page = " ".join(text(admin_client.get(address(HealthSnapshot, "change", row.pk))).split())
    for expected in ("mcp:todo", "No answer within 1 s", "rag_basic", "41 ms", "Breakers that"):
        assert expected in page
    assert 'name="_save"' not in page


def test_round_of_another_release_is_shown_as_it_is(admin_client: Client) -> None:
    row = HealthSnapshot.objects.create(
        taken_at=datetime.now(UTC), status="healthy", report={"of": "long ago"}
    )
    assert "of another release" in text(admin_client.get(address(HealthSnapshot, "changelist")))
    page = text(admin_client.get(address(HealthSnapshot, "change", row.pk)))
    assert "long ago" in page


def test_nobody_adds_changes_or_deletes_history(admin_client: Client) -> None:
    record(report())
    row = HealthSnapshot.objects.get()
    assert admin_client.get("/admin/health/healthsnapshot/add/").status_code == 403
    assert admin_client.post(address(HealthSnapshot, "delete", row.pk)).status_code == 403
    assert admin_client.post(address(HealthSnapshot, "change", row.pk)).status_code == 403
    assert HealthSnapshot.objects.count() == 1


def test_page_of_a_long_history_counts_and_reads_only_so_much(admin_client: Client) -> None:
    now, written = datetime.now(UTC), report().to_json()
    HealthSnapshot.objects.bulk_create(
        HealthSnapshot(taken_at=now - timedelta(seconds=30 * n), status="healthy", report=written)
        for n in range(10_300)
    )
    listing = address(HealthSnapshot, "changelist")
    for query in ({}, {"status__exact": "healthy"}, {"p": "150"}):
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(listing, query)
        asked = [one["sql"] for one in queries if "health_healthsnapshot" in one["sql"]]
        # The strips above the list look into the index once for each step.
        (strips,) = (sql for sql in asked if "health_currenthealth" in sql)
        assert strips.count("EXISTS") == 48
        counted, read = (sql for sql in asked if sql != strips)
        assert "LIMIT 10001" in counted
        assert "LIMIT 50" in read
        assert "10000+" in text(page)


def test_changes_are_filtered_by_subject_name_and_time(admin_client: Client) -> None:
    record(report(later=-2))
    record(report("worker", later=-1))
    listing = address(StatusChange, "changelist")
    assert "worker is away" in text(admin_client.get(listing))

    def names(**query: str) -> list[str]:
        return [row.name for row in admin_client.get(listing, query).context["cl"].result_list]

    assert names(subject__exact="service") == ["service"]
    assert names(name="worker") == ["worker"]
    assert names(q="away") == ["service", "worker"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert names(at__gte=tomorrow) == []
    row = StatusChange.objects.get(name="worker")
    assert "unavailable" in text(admin_client.get(address(StatusChange, "change", row.pk)))
