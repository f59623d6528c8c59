"""What runs now, one by one: each number of this moment leads to a list of just that."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import redis
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from health.conf import QUEUES
from tests.events import closing, opening
from tests.factories import make_client, make_pipeline
from tests.hanging_redis import hanging_redis
from tests.health.admin.seen import tiles
from tests.tools.admin.pages import text
from tools.conf import deployment
from tools.guards.query_runs import QueryRuns
from tools.guards.redis import JOURNAL_STREAM
from tools.services.under_way import MOST_LISTED
from tools.techniques import queue_of

pytestmark = pytest.mark.django_db

LIVE = "/admin/health/healthsnapshot/live/"
PAGE = "/admin/health/healthsnapshot/running/"
TAG = re.compile(r"<[^>]+>")
ID = "0199f5b0-0000-7000-8000-000000000001"


@pytest.fixture
def stream(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        yield client
        client.delete(*QUEUES, queue_of("basic"), JOURNAL_STREAM)


def message(task: str, task_id: str) -> str:
    """As Celery sends it, with a question that is nobody's business."""
    told = {"task": task, "id": task_id, "argsrepr": "('a private question',)"}
    return json.dumps({"body": "", "headers": told, "properties": {}})


def add(stream: redis.Redis, event: dict[str, Any]) -> None:
    stream.xadd(JOURNAL_STREAM, {"e": json.dumps(event)})


def behind(client: Client, name: str) -> tuple[str, list[list[str]]]:
    """What a number says, and the cells of the list in the place of the page that it leads to."""
    value, _, link = tiles(text(client.get(LIVE)))[name]
    address, _, place = link.partition("#")
    section = re.search(
        rf'<section class="panel" id="{place}".*?</section>', text(client.get(address)), re.DOTALL
    )
    assert section is not None, link
    lines = re.findall(r"<tr>(.*?)</tr>", section[0].partition("<tbody>")[2], re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    return value, [[unescape(TAG.sub("", cell)) for cell in line] for line in cells]


def test_running_queries_are_listed_by_pipeline_with_since_when(
    admin_client: Client, redis_url: str
) -> None:
    pipeline = make_pipeline()
    caller = f"client:{make_client(name='agent')[0].pk}"
    worker = QueryRuns(redis_url, "a-worker")
    facts = {"pipeline": "basic", "caller": caller, "stage": "rerank", "host": "box", "pid": 7}
    try:
        for number in range(2):
            assert worker.claim(f"asked-{number}", {**facts, "since": time.time() - 3})
        count, rows = behind(admin_client, "Running queries")
        assert count == "2"
        (since, age, *told), _ = rows
        assert re.fullmatch(r"\d\d:\d\d:\d\d", since)
        assert re.fullmatch(r"\d s", age)
        assert told == ["basic", "rerank", f"agent ({caller})", "box, pid 7"]
        page = reverse("admin:tools_pipelineconfig_change", args=[pipeline.pk])
        assert f'href="{page}"' in text(admin_client.get(PAGE))
    finally:
        for number in range(2):
            worker.finish(f"asked-{number}", "nobody", {}, 1)
        worker.close()
    assert behind(admin_client, "Running queries") == ("0", [])


def test_messages_that_wait_are_listed_by_queue(admin_client: Client, stream: redis.Redis) -> None:
    # Whoever sends puts in from the left.
    stream.lpush(QUEUES[0], message("tools.tasks.first", "1"), message("tools.tasks.second", "2"))
    stream.lpush(QUEUES[1], "not readable at all", '["headers"]')
    stream.lpush(queue_of("basic"), message("tools.rag.ask", "3"))
    count, rows = behind(admin_client, "Waiting")
    assert count == "5"
    assert rows == [
        [QUEUES[0], "tools.tasks.first", "1"],
        [QUEUES[0], "tools.tasks.second", "2"],
        [QUEUES[1], "(not readable)", "-"],
        [QUEUES[1], "(not readable)", "-"],
        [queue_of("basic"), "tools.rag.ask", "3"],
    ]
    page = text(admin_client.get(PAGE))
    assert f"Waiting: {QUEUES[0]} 2, {QUEUES[1]} 2, {queue_of('basic')} 1" in page
    assert "private" not in page


def test_calls_that_are_not_logged_yet_are_listed_with_their_callers(
    admin_client: Client, stream: redis.Redis
) -> None:
    caller = f"client:{make_client(name='agent')[0].pk}"
    secret = {"parameters": '{"password": "unseen-by-all"}', "query_text": "unseen-by-all"}
    add(stream, opening(ID, caller=caller, tool="<b>tool</b>", **secret))
    add(stream, closing(ID, caller=caller, body="unseen-by-all"))
    stream.xadd(JOURNAL_STREAM, {"e": "{not json"})
    count, rows = behind(admin_client, "Not yet logged")
    assert count == "3"
    today = f"{datetime.now(UTC):%Y-%m-}"
    assert all(since.startswith(today) for since, *_ in rows)
    assert [told for _, *told in rows] == [
        [ID, "began", "<b>tool</b>", f"agent ({caller})"],
        [ID, "ended", "echo", f"agent ({caller})"],
        ["(not readable)", "-", "-", "-"],
    ]
    page = text(admin_client.get(PAGE))
    assert f'href="{reverse("admin:tools_toolrequest_change", args=[ID])}"' in page
    assert "unseen-by-all" not in page
    assert "<b>tool" not in page


def test_long_lists_have_their_oldest_lines_and_say_so(
    admin_client: Client, stream: redis.Redis
) -> None:
    many = MOST_LISTED + 3
    stream.lpush(QUEUES[0], *(message("tools.tasks.one", str(one)) for one in range(many)))
    for _ in range(many):
        add(stream, opening(str(uuid.uuid4())))
    for name in ("Waiting", "Not yet logged"):
        count, rows = behind(admin_client, name)
        assert (count, len(rows)) == (f"{many}", MOST_LISTED)
    assert behind(admin_client, "Waiting")[1][0][2] == "0"
    page = text(admin_client.get(PAGE))
    assert page.count(f"The oldest {MOST_LISTED} of {many}.") == 2


def test_the_lists_are_renewed_alone_in_few_queries(
    admin_client: Client, stream: redis.Redis
) -> None:
    page = text(admin_client.get(PAGE))
    assert f'data-follow="{PAGE}?part=" data-every="5000"' in page
    for _ in range(20):
        add(stream, opening(str(uuid.uuid4()), caller=f"client:{make_client()[0].pk}"))
    with CaptureQueriesContext(connection) as made:
        part = text(admin_client.get(PAGE, {"part": ""}))
    assert len(made) <= 10
    assert "<html" not in part
    assert 'data-busy="yes"' in part


@pytest.mark.parametrize("hangs", [False, True])
def test_without_redis_the_page_says_so_at_once(
    admin_client: Client, settings: Settings, tmp_path: Path, hangs: bool
) -> None:
    with hanging_redis() as hanging:
        settings.REDIS_URL = hanging.url if hangs else f"unix://{tmp_path}/nowhere.sock"
        deployment.cache_clear()
        try:
            for asked in ({}, {"part": ""}):
                shown = text(admin_client.get(PAGE, asked))
                assert "Redis cannot be reached" in shown
                assert 'data-busy="yes"' in shown
        finally:
            deployment.cache_clear()


def test_only_who_may_see_calls_may_look(client: Client, redis_url: str) -> None:
    person = User.objects.create_user("somebody", is_staff=True)
    client.force_login(person)
    assert [client.get(PAGE, asked).status_code for asked in ({}, {"part": ""})] == [403, 403]
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    assert client.get(PAGE).status_code == 200
