"""The page of an MCP server while workers look at it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.tools.admin.pages import address, text
from tests.tools.admin.upstream_pages import keep, status_of
from tests.upstream_rows import make_upstream
from tools.conf import deployment
from tools.models import UpstreamServer
from tools.services import ask_upstream
from tools.services.asked_upstream import START_SECONDS, Asked, AskState, Purpose
from tools.services.upstream_workers import upstream_workers

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would have been handed to workers, none of which runs."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(upstream_workers, "send", lambda *given: found.append(given))
    return found


def press(client: Client, server: UpstreamServer, button: str) -> str:
    return text(client.post(address(UpstreamServer, button, server.pk), follow=True))


def test_pressing_test_hands_the_saved_server_to_a_worker_and_the_page_waits(
    admin_client: Client, redis_url: str, sent: list[tuple[Any, ...]]
) -> None:
    server = make_upstream()
    page = press(admin_client, server, "test")
    asked = ask_upstream.read_asked(server.pk)
    assert isinstance(asked, Asked)
    # Nothing but the key of a saved row goes along: no command, no address.
    assert sent == [(asked.id, server.pk, 4 * 5 + 15)]
    assert (asked.purpose, asked.state, asked.by) == (Purpose.TEST, AskState.WAITING, "admin")
    assert 'data-busy="yes"' in page
    assert "Waiting for a worker." in status_of(admin_client, server)
    # One at a time.
    assert "A look at this server is under way already." in press(admin_client, server, "refresh")
    assert len(sent) == 1


def test_page_says_when_no_worker_takes_it_up(admin_client: Client, redis_url: str) -> None:
    server = make_upstream()
    keep(redis_url, server, at=time.time() - 10)
    shown = status_of(admin_client, server)
    assert "No worker has taken this up yet." in shown
    assert 'data-busy="yes"' in shown
    keep(redis_url, server, at=time.time() - START_SECONDS - 1)
    shown = status_of(admin_client, server)
    assert "No worker has taken this up. Is one running?" in shown
    assert 'data-busy="no"' in shown


def test_worker_that_died_does_not_keep_the_page_waiting(
    admin_client: Client, redis_url: str
) -> None:
    server = make_upstream()
    # As long as a worker may live that lost sight of Redis, it may still answer.
    keep(redis_url, server, state="running", began=time.time() - 60)
    assert "has ended without an answer" not in status_of(admin_client, server)
    keep(redis_url, server, state="running", began=time.time() - 75)
    assert "has ended without an answer" in status_of(admin_client, server)


def test_broker_that_takes_nothing_is_told(
    admin_client: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any) -> None:
        raise OSError("away")

    monkeypatch.setattr(upstream_workers, "send", refuse)
    server = make_upstream()
    assert "could not be handed to the workers" in press(admin_client, server, "test")
    # And it can be tried again at once.
    assert "could not be handed to the workers" in press(admin_client, server, "test")


def test_without_redis_pages_say_so(
    admin_client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        server = make_upstream(slug="todo", transport="stdio", command="todo", url="")
        shown = text(admin_client.get(address(UpstreamServer, "change", server.pk)))
        assert "Redis cannot be reached: nobody knows how the connections are" in shown
        assert "no worker can be asked. Start it" in press(admin_client, server, "test")
        # They go on asking, so that they are right again when it is back.
        for part in ("status", "log"):
            shown = text(admin_client.get(address(UpstreamServer, part, server.pk)))
            assert "Redis cannot be reached" in shown
            assert 'data-busy="yes"' in shown
        listed = text(admin_client.get(address(UpstreamServer, "changelist")))
        assert "not known: no Redis" in listed
    finally:
        deployment.cache_clear()
