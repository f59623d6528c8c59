"""Looks at MCP servers that real workers take, within their limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django import Settings

from tests.mcp_upstream import HttpUpstream, http_upstream
from tests.tools.guards.support import OwnValkey
from tests.tools.services.upstream_looks import outcome, worker
from tests.upstream_rows import make_upstream
from tests.workers import Worker
from tools.conf import deployment
from tools.models import Tool, UpstreamItem, UpstreamServer
from tools.services import ask_upstream, over_redis
from tools.services.ask_upstream import AskFault, AskState, Purpose, answer, ask, read_asked
from tools.services.look_upstream import look
from tools.services.looked_upstream import Looked
from tools.services.over_redis import RedisDown
from tools.services.upstream_workers import upstream_workers

__all__ = ["worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[HttpUpstream]:
    """A server behind a port."""
    with http_upstream(tmp_path / "remote") as started:
        yield started


@pytest.fixture
def own_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnValkey]:
    """A Redis to be killed, and nobody who takes what is handed to workers."""
    monkeypatch.setattr(upstream_workers, "send", lambda *given: None)
    own = OwnValkey()
    settings.REDIS_URL = own.url
    deployment.cache_clear()
    yield own
    own.remove()
    deployment.cache_clear()


def row(url: str, **changes: Any) -> UpstreamServer:
    return make_upstream(url=url, allowed_networks=["127.0.0.0/8"], **changes)


def test_test_tells_what_a_server_offers_and_changes_nothing(
    worker: Worker, remote: HttpUpstream
) -> None:
    server = row(remote.url)
    asked = outcome(server, Purpose.TEST)
    assert (asked.state, asked.message) == (AskState.DONE, "")
    found = asked.found
    assert found["protocol_version"] >= "2025-11-25"
    assert found["counts"]["tools"] == len(found["names"]["tools"]) > 10
    assert "echo" in found["names"]["tools"]
    assert found["names"]["prompts"] == ["greet"]
    assert 0 < found["connect_seconds"] <= found["seconds"]
    assert "changes" not in found
    assert not UpstreamItem.objects.exists()
    server.refresh_from_db()
    assert (server.last_discovery, server.discovered_at) == ({}, None)


def test_refresh_puts_what_a_server_offers_into_the_catalogue(
    worker: Worker, remote: HttpUpstream
) -> None:
    # S2-007, C14
    server = row(remote.url, slug="trial")
    first = outcome(server, Purpose.REFRESH).found
    assert "tool echo" in first["changes"]["added"]
    assert Tool.objects.filter(upstream_item__server=server).count() == first["counts"]["tools"]
    remote.set(descriptions={"echo": "Answers with something else now."})
    second = outcome(server, Purpose.REFRESH).found
    assert second["changes"] == {
        "added": [],
        "waiting": [],
        "changed": ["tool echo"],
        "gone": [],
        "back": [],
    }


def test_server_that_is_away_is_told_with_the_reason(worker: Worker, remote: HttpUpstream) -> None:
    server = row(remote.url, display_name="TodoDatabaseServer")
    remote.kill()
    asked = outcome(server, Purpose.REFRESH)
    assert asked.state is AskState.FAILED
    assert asked.message.startswith("TodoDatabaseServer cannot be reached")
    server.refresh_from_db()
    assert server.last_discovery["ok"] is False
    assert server.last_discovery["message"] == asked.message


def test_server_that_hangs_ends_the_look_in_time(worker: Worker, remote: HttpUpstream) -> None:
    remote.set(hang="connect")
    asked = outcome(row(remote.url, connect_timeout=1), Purpose.TEST)
    assert asked.state is AskState.FAILED
    assert "did not answer within 1 s" in asked.message
    assert asked.ended - asked.began < asked.limit


def test_neither_question_nor_answer_is_lost_while_redis_is_away_for_a_moment(
    remote: HttpUpstream, own_redis: OwnValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = row(remote.url)
    ask_id = ask(server, Purpose.TEST, "admin").id

    def back_again(seconds: float) -> None:
        own_redis.start()

    def look_without_redis(pk: int, *, refresh: bool) -> Looked:
        own_redis.kill()
        return look(pk, refresh=refresh)

    patient = SimpleNamespace(monotonic=time.monotonic, sleep=back_again)
    monkeypatch.setattr(over_redis, "time", patient)
    monkeypatch.setattr(ask_upstream, "look", look_without_redis)
    own_redis.kill()
    answer(ask_id, server.pk)
    asked = read_asked(server.pk)
    assert asked is not None
    assert (asked.state, asked.message) == (AskState.DONE, "")


def test_worker_gives_up_a_redis_that_stays_away(
    own_redis: OwnValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_id = ask(make_upstream(), Purpose.TEST, "admin").id
    own_redis.kill()
    monkeypatch.setattr(over_redis, "PATIENCE", 0.0)
    with pytest.raises(RedisDown):
        answer(ask_id, 1)


def test_second_question_waits_for_the_first_and_a_late_worker_finds_nothing_to_do() -> None:
    server = make_upstream()
    question = ask(server, Purpose.TEST, "admin")
    with pytest.raises(AskFault, match="under way already"):
        ask(server, Purpose.TEST, "admin")
    answer("of-somebody-else", server.pk)
    assert read_asked(server.pk) == question
