"""The page of the current health, and its button."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from health.findings import Source
from health.latest import KEY
from health.models import StatusChange
from health.record import record
from tests.health.admin.seen import call
from tests.health.reports import full_report, report
from tests.processes import wait_until
from tests.tools.admin.pages import text
from tests.workers import celery_worker
from tools.conf import deployment

pytestmark = pytest.mark.django_db

PAGE = "/admin/health/healthsnapshot/now/"


def shown(client: Client, query: str = "") -> str:
    return " ".join(text(client.get(PAGE + query)).split())


def test_page_shows_everything_that_was_found(admin_client: Client, redis_url: str) -> None:
    # S0-014, S0-065, S0-070, S3-057
    record(full_report())
    page = shown(admin_client)
    for expected in (
        *("degraded", "beat: The beat does not run", "pipeline rag_crag: No worker"),
        *("3 ms", "free mb 812", "41 ms", "25.0 %", "never", "not counted", "It is switched off"),
        *("30 of 1,200 failed", "a round of the workers", "s ago", "OPEN, 5 failures in a row"),
    ):
        assert expected in page, expected
    assert "No worker &lt;b&gt;answers&lt;/b&gt;" in page
    for link in (
        reverse("admin:tools_upstreamserver_changelist") + "?q=todo",
        reverse("admin:tools_apiservice_changelist") + "?q=shop",
        reverse("admin:tools_pipelineconfig_changelist") + "?q=rag_basic",
        reverse("admin:tools_toolrequest_changelist") + "?tool__exact=rag_basic",
        reverse("admin:tools_upstreamserver_breakers"),
        reverse("admin:django_celery_beat_periodictask_changelist"),
    ):
        assert f'href="{link}"' in page, link
        assert admin_client.get(link).status_code == 200


def test_page_shows_the_later_of_what_is_published_and_what_is_written_down(
    admin_client: Client, redis_url: str
) -> None:
    record(report(later=-5))
    assert "worker is away" not in shown(admin_client)
    with redis.Redis.from_url(redis_url) as client:
        client.set(KEY, orjson.dumps(report("worker").to_json()))
    assert "worker is away" in shown(admin_client)
    record(report("redis", later=5))
    assert "redis is away" in shown(admin_client)


def test_failures_of_the_hour_lead_to_their_calls(
    client: Client, admin_client: Client, redis_url: str
) -> None:
    broken: dict[str, Any] = {
        "status": "failure",
        "state": "failed",
        "code": "EXECUTION_ERROR",
        "error": "no",
    }
    for tool in ("rag_basic", "rag_basic", "echo"):
        call(tool=tool, **broken)
    call(tool="rag_basic")
    call(tool="rag_basic", minutes=90, **broken)
    record(full_report())
    page = shown(admin_client)
    for figure, rows in (("30 of 1,200 failed", 3), ("25.0 %", 2)):
        link = re.search(rf'href="([^"]+)">{figure}<', page)
        assert link is not None, figure
        assert admin_client.get(unescape(link[1])).context["cl"].result_count == rows
    # Without the log it is a figure and no more.
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_healthsnapshot"))
    client.force_login(viewer)
    assert "25.0 %" in shown(client)
    assert reverse("admin:tools_toolrequest_changelist") not in shown(client)


def test_report_that_is_too_old_is_not_believed(admin_client: Client, redis_url: str) -> None:
    record(replace(full_report(), checked_at=datetime.now(UTC) - timedelta(minutes=5)))
    for page in (shown(admin_client), shown(admin_client, "?part=")):
        told = page.partition("The service</h2>")[2]
        assert "not known" in told.partition("</div>")[0]
        assert "It was degraded 5 minutes ago, and nobody has measured since." in told
        assert "bg-green" not in told
    record(full_report())
    page = shown(admin_client).partition("The service</h2>")[2]
    assert "nobody has measured since" not in page
    assert "bg-green" in page


def test_page_renews_itself_whatever_was_asked(admin_client: Client, redis_url: str) -> None:
    for query in ("", f"?asked={time.time() - 20:.3f}"):
        found = re.search(r'data-follow="([^"]+)" data-idle="5000"', shown(admin_client, query))
        assert found is not None
        record(report("worker"))
        part = text(admin_client.get(found[1].replace("&amp;", "&")))
        assert "worker is away" in part
        assert "<html" not in part


def test_page_works_without_redis(admin_client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert "Nobody has measured yet." in shown(admin_client)
        record(report("redis"))
        assert "redis is away" in shown(admin_client)
    finally:
        deployment.cache_clear()


def test_changes_of_the_last_day_are_listed_the_latest_first(
    admin_client: Client, redis_url: str
) -> None:
    record(report(later=-2))
    record(report("worker", later=-1))
    record(report())
    long_ago = datetime.now(UTC) - timedelta(hours=25)
    StatusChange.objects.create(
        at=long_ago, subject="dependency", name="of-yesterday", before="", after="unavailable"
    )
    page = shown(admin_client)
    assert "of-yesterday" not in page
    changes = page[page.index("Changes of the last 24 hours") :]
    assert changes.index("degraded → <strong>healthy") < changes.index("healthy → <strong>degraded")


@pytest.mark.django_db(transaction=True)
def test_check_now_has_a_worker_make_a_round_and_shows_what_it_found(
    admin_client: Client, redis_url: str, tmp_path: Path
) -> None:
    # S0-072
    with celery_worker(tmp_path / "worker.log", concurrency=1):
        page = admin_client.post(PAGE, follow=True)
        follow = re.search(r'data-follow="([^"]+)"', text(page))
        assert follow is not None
        part = follow[1].replace("&amp;", "&")

        def done() -> bool:
            return "A worker has checked everything" in text(admin_client.get(part))

        wait_until(done, 30, "the round that was asked for")
    final = text(admin_client.get(part))
    assert 'data-busy="no"' in final
    assert "a round of the workers" in final
    assert "<html" not in final


def test_page_waits_for_a_round_and_then_says_that_none_was_made(
    admin_client: Client, redis_url: str
) -> None:
    record(report())
    page = shown(admin_client, f"?asked={time.time():.3f}")
    assert "Waiting for what it finds." in page
    assert 'data-busy="yes"' in page
    # What a web process measured meanwhile is no round.
    record(report(later=1))
    assert 'data-busy="yes"' in shown(admin_client, f"?asked={time.time() - 1:.3f}")
    page = shown(admin_client, f"?asked={time.time() - 20:.3f}")
    assert "No worker has made a round." in page
    assert 'data-busy="no"' in page


def test_round_is_found_though_processes_have_measured_again_since(
    admin_client: Client, redis_url: str
) -> None:
    asked = time.time() - 20
    record(replace(report("worker", later=-19), source=Source.SNAPSHOT))
    # As they do each second while something is amiss.
    record(report("worker", later=-18))
    page = shown(admin_client, f"?asked={asked:.3f}")
    assert "A worker has checked everything; this is what it found." in page
    assert 'data-busy="no"' in page


@pytest.mark.parametrize("asked", ["", "nonsense", "nan", "1", "99999999999"])
def test_odd_times_are_as_none(admin_client: Client, redis_url: str, asked: str) -> None:
    assert "data-busy" not in shown(admin_client, f"?asked={asked}")


def test_without_a_broker_the_button_says_so(
    admin_client: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from health.tasks import check_health

    monkeypatch.setattr(check_health, "apply_async", _no_broker)
    page = " ".join(text(admin_client.post(PAGE, follow=True)).split())
    assert "No worker can be asked: Redis cannot be reached." in page


def _no_broker(*args: object, **kwargs: object) -> None:
    raise ConnectionError


def test_who_may_only_look_has_no_button(client: Client, redis_url: str) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(PAGE).status_code in {302, 403}
    viewer.user_permissions.add(Permission.objects.get(codename="view_healthsnapshot"))
    record(full_report())
    page = shown(client)
    assert "Check now" not in page
    assert reverse("admin:tools_upstreamserver_changelist") not in page
    assert client.post(PAGE).status_code == 403
