"""Service level objectives in the admin."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client

from health.findings import Dependency
from health.measure import assess
from health.models import ServiceLevelObjective
from health.objectives import attainments
from health.slo_gauges import objective_families
from health.status import DependencyStatus
from tests.events import closing
from tests.tools.admin.pages import address, submit, text
from tools.models import ToolRequest

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def calls(db: None) -> None:
    """Ninety-eight that worked, two that did not."""
    ServiceLevelObjective.objects.all().delete()
    now = datetime.now(UTC).isoformat()
    ToolRequest.objects.apply(
        closing(
            str(uuid4()),
            received_at=now,
            finished_at=now,
            duration_ms=10.0 + number,
            **(
                {"status": "failure", "state": "failed", "code": "INTERNAL_ERROR"}
                if number < 2
                else {}
            ),
        )
        for number in range(100)
    )


def test_list_tells_what_is_promised_and_what_became_of_it(admin_client: Client) -> None:
    # F4-19
    ServiceLevelObjective.objects.create(tool="", availability_percent="99.5")
    ServiceLevelObjective.objects.create(
        tool="echo", availability_percent="95", latency_ms=1000, latency_percent="95"
    )
    ServiceLevelObjective.objects.create(tool="idle")
    page = text(admin_client.get(address(ServiceLevelObjective, "changelist")))
    for words in (
        "99.5 % succeed over 30 days",
        "98.000 % of 100 calls",
        "400 %",
        "broken",
        "95 % succeed over 30 days, 95 % within 1,000 ms",
        "40 %",
        "100.00 %",
        "kept",
        "no calls yet",
    ):
        assert words in page


def test_promise_is_made_and_checked_in_a_form(admin_client: Client) -> None:
    values = {"availability_percent": "99.9", "window_days": "7", "counting": "all"}
    values |= {"tool": "echo", "latency_percent": "95", "latency_ms": "", "enabled": "on"}
    refused = submit(
        admin_client,
        address(ServiceLevelObjective, "add"),
        **{**values, "availability_percent": "120"},
    )
    assert "less than or equal to 100" in text(refused)
    submit(admin_client, address(ServiceLevelObjective, "add"), **values)
    row = ServiceLevelObjective.objects.get()
    assert (row.tool, row.window_days, row.latency_ms) == ("echo", 7, None)
    page = text(admin_client.get(address(ServiceLevelObjective, "change", row.pk)))
    assert "98.000 % of 100 calls" in page


def test_prometheus_gets_what_is_burnt() -> None:
    ServiceLevelObjective.objects.create(tool="", availability_percent="99")
    report = replace(
        assess({"database": Dependency(DependencyStatus.CONNECTED)}),
        objectives={one.name: one.to_wire() for one in attainments()},
    )
    found = {
        (sample.name, sample.labels["objective"]): sample.value
        for family in objective_families(report)
        for sample in family.samples
    }
    assert found == {
        ("controlplane_slo_target_ratio", "service"): pytest.approx(0.99),
        ("controlplane_slo_availability_ratio", "service"): pytest.approx(0.98),
        ("controlplane_slo_budget_burnt_ratio", "service"): pytest.approx(2.0),
    }
