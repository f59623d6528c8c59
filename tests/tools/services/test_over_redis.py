"""Questions of pages to Redis: soon answered, or given up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.factories import make_pipeline
from tests.hanging_redis import Hanging, hanging_redis
from tests.tools.admin.pages import text
from tests.upstream_rows import make_upstream
from tools.conf import deployment
from tools.guards.redis import RedisLink
from tools.services import over_redis as asking
from tools.services.over_redis import RedisDown, glance, over_redis

PAGES = (
    "/admin/",
    "/admin/health/healthsnapshot/live/",
    "/admin/health/healthsnapshot/now/",
    "/admin/tools/upstreamserver/breakers/",
    "/admin/tools/upstreamserver/",
    "/admin/tools/pipelineconfig/",
)


async def ping(link: RedisLink) -> Any:
    return await link.command("PING")


@pytest.fixture
def hanging(settings: Settings) -> Iterator[Hanging]:
    with hanging_redis() as found:
        settings.REDIS_URL = found.url
        deployment.cache_clear()
        yield found
    deployment.cache_clear()


def test_an_answer_is_given_and_the_connection_closed(redis_url: str) -> None:
    assert (glance(ping), over_redis(ping)) == ("PONG", "PONG")


def test_a_server_that_hangs_is_asked_once_and_then_left_alone_for_a_while(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        with pytest.raises(RedisDown):
            glance(ping)
    assert len(hanging.connections) == 1
    asking._silent_until.clear()
    monkeypatch.setattr(asking, "_COOL_DOWN", 0.0)
    for _ in range(2):
        with pytest.raises(RedisDown):
            glance(ping)
    assert len(hanging.connections) == 3


def test_a_question_that_takes_too_long_is_given_up(redis_url: str) -> None:
    async def forever(link: RedisLink) -> None:
        await asyncio.Event().wait()

    with pytest.raises(RedisDown, match="in time"):
        over_redis(forever, 0.01)


def test_what_the_question_itself_raises_is_passed_on(redis_url: str) -> None:
    async def wrong(link: RedisLink) -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        over_redis(wrong)


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_pages_wait_once_for_a_redis_that_hangs(
    admin_client: Client, hanging: Hanging, page: str
) -> None:
    make_upstream(slug="todo")
    make_pipeline()
    hanging.connections.clear()
    asking._silent_until.clear()
    answer = admin_client.get(page)
    assert answer.status_code == 200
    assert len(hanging.connections) == 1
    assert "Traceback" not in text(answer)


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_pages_do_without_a_redis_that_is_away(
    admin_client: Client, settings: Settings, tmp_path: Path, page: str
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert admin_client.get(page).status_code == 200
    finally:
        deployment.cache_clear()
