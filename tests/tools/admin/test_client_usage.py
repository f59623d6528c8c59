"""What API clients use of their limits, in their list and on their pages."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.events import closing
from tests.factories import make_client
from tests.tools.admin.pages import address, text
from tools.guards.rate import RateLimiter
from tools.guards.redis import RedisLink
from tools.models import ApiClient
from tools.services.client_usage import WEEK, client_calls, client_rates
from tools.services.fold_figures import fold_figures
from tools.services.write_journal import write_events

pytestmark = pytest.mark.django_db


def call(client: ApiClient, hours: float = 0.0, **changes: Any) -> None:
    """A call of the client, some hours ago."""
    at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    event = closing(str(uuid.uuid4()), caller=f"client:{client.pk}", received_at=at, **changes)
    write_events([json.dumps(event)])


def spend(url: str, client: ApiClient, times: int, per_minute: int) -> None:
    async def work() -> None:
        link = RedisLink(url)
        limiter = RateLimiter(link)
        for _ in range(times):
            await limiter.take(f"client:{client.pk}", per_minute)
        await link.close()

    asyncio.run(work())


def used_of_60(page: str) -> int:
    found = re.search(r">(\d+) of 60<", page)
    assert found
    return int(found[1])


def test_rate_and_calls_are_told_with_the_way_to_them(admin_client: Client, redis_url: str) -> None:
    busy, _ = make_client(name="busy", rate_limit_per_minute=60)
    idle, _ = make_client(name="idle")
    spend(redis_url, busy, 12, 60)
    call(busy)
    call(busy, status="failure", code="EXECUTION_ERROR", state="failed")
    call(busy, hours=30, tokens_before=500, tokens_after=500)
    page = text(admin_client.get(address(ApiClient, "change", busy.pk)))
    # One comes back each second.
    assert used_of_60(page) in range(1, 13)
    part = text(admin_client.get(address(ApiClient, "usage", busy.pk)))
    for shown in (page, part):
        assert f"caller__exact=client%3A{busy.pk}" in shown
        assert "status__in=failure%2Ctimeout" in shown
    day, week = (client_calls([busy], back)[busy.pk].sums for back in (timedelta(days=1), WEEK))
    assert (day.calls, day.failed, day.tokens) == (2, 1, 0)
    assert (week.calls, week.failed, week.tokens) == (3, 1, 500)
    listed = text(admin_client.get(address(ApiClient, "changelist")))
    assert used_of_60(listed) in range(1, 13)
    assert "1 failed" in listed
    assert "never" in text(admin_client.get(address(ApiClient, "change", idle.pk))).lower()


def test_sums_are_the_same_before_and_after_adding_up() -> None:
    client, _ = make_client()
    for hours in (0, 3, 60):
        call(client, hours=hours)
    before = client_calls([client], WEEK)[client.pk].sums
    fold_figures()
    assert client_calls([client], WEEK)[client.pk].sums == before
    assert before.calls == 3


def test_used_calls_come_back_and_are_never_more_than_the_limit(redis_url: str) -> None:
    client, _ = make_client(rate_limit_per_minute=10)
    spend(redis_url, client, 25, 10)
    assert client_rates([client])[client.pk].used in range(1, 11)
    # What was used of the old limit stays used, within the new one.
    client.rate_limit_per_minute = 20
    assert client_rates([client])[client.pk].used in range(1, 11)


def test_pages_are_shown_without_redis(admin_client: Client, without_redis: None) -> None:
    client, _ = make_client(rate_limit_per_minute=60)
    page = text(admin_client.get(address(ApiClient, "change", client.pk)))
    assert "Redis cannot be reached" in page
    assert "? of 60" in text(admin_client.get(address(ApiClient, "changelist")))


def test_list_costs_as_many_queries_for_any_number_of_clients(
    admin_client: Client, redis_url: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            admin_client.get(address(ApiClient, "changelist"))
        return len(seen)

    make_client()
    few = queries()
    for _ in range(10):
        make_client()
    assert queries() == few
    assert few <= 30


def test_usage_is_for_those_who_may_see_the_client(redis_url: str) -> None:
    stranger = Client()
    stranger.force_login(User.objects.create_user("clerk", is_staff=True))
    row, _ = make_client()
    assert stranger.get(address(ApiClient, "usage", row.pk)).status_code == 403
