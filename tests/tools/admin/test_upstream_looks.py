"""The page of an MCP server while workers look at it, and what processes tell of their connections."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client
from pytest_django import Settings

from tests.tools.admin.pages import address, text
from tests.upstream_rows import make_upstream
from tools.conf import deployment
from tools.models import UpstreamServer
from tools.services import ask_upstream
from tools.services.ask_upstream import KEY, START_SECONDS, Asked, AskState, Purpose
from tools.services.upstream_workers import upstream_workers
from tools.upstreams import ConnectionReport, ConnectionState, UpstreamTransport

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would have been handed to workers, none of which runs."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(upstream_workers, "send", lambda *given: found.append(given))
    return found


def press(client: Client, server: UpstreamServer, button: str) -> str:
    return text(client.post(address(UpstreamServer, button, server.pk), follow=True))


def status(client: Client, server: UpstreamServer) -> str:
    return text(client.get(address(UpstreamServer, "status", server.pk)))


def tell(url: str, server: UpstreamServer, process: str, **facts: Any) -> None:
    """What a process would tell of its connection."""
    age = facts.pop("age", 0)
    lines = facts.pop("error_lines", [])
    values = {"server_name": str(server), "transport_type": UpstreamTransport(server.transport)}
    report = ConnectionReport(**{**values, **facts}).to_wire()
    written = {"at": time.time() - age, **report, "error_lines": lines}
    with redis.Redis.from_url(url) as client:
        client.hset(f"cp:upstream:{server.slug}", process, json.dumps(written))


def keep(url: str, server: UpstreamServer, **facts: Any) -> None:
    """A question that was asked before."""
    values = {"id": "1", "purpose": "test", "by": "somebody", "at": time.time(), "limit": 30}
    asked = {**values, "state": "waiting", "began": 0, "ended": 0, "message": "", "found": {}}
    with redis.Redis.from_url(url) as client:
        told = json.dumps({**asked, "error_lines": [], **facts})
        client.set(KEY.format(pk=server.pk), told)


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
    assert "Waiting for a worker." in status(admin_client, server)
    # One at a time.
    assert "A look at this server is under way already." in press(admin_client, server, "refresh")
    assert len(sent) == 1


def test_page_says_when_no_worker_takes_it_up(admin_client: Client, redis_url: str) -> None:
    server = make_upstream()
    keep(redis_url, server, at=time.time() - 10)
    shown = status(admin_client, server)
    assert "No worker has taken this up yet." in shown
    assert 'data-busy="yes"' in shown
    keep(redis_url, server, at=time.time() - START_SECONDS - 1)
    shown = status(admin_client, server)
    assert "No worker has taken this up. Is one running?" in shown
    assert 'data-busy="no"' in shown


def test_worker_that_died_does_not_keep_the_page_waiting(
    admin_client: Client, redis_url: str
) -> None:
    server = make_upstream()
    keep(redis_url, server, state="running", began=time.time() - 60)
    assert "has ended without an answer" in status(admin_client, server)


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
        server = make_upstream()
        shown = text(admin_client.get(address(UpstreamServer, "change", server.pk)))
        assert "Redis cannot be reached: nobody knows how the connections are" in shown
        assert "no worker can be asked. Start it" in press(admin_client, server, "test")
        listed = text(admin_client.get(address(UpstreamServer, "changelist")))
        assert "not known: no Redis" in listed
    finally:
        deployment.cache_clear()


def test_page_shows_what_each_process_tells_of_its_connection(
    admin_client: Client, redis_url: str
) -> None:
    # S2-005, S2-006, S2-007, S2-008, C05, T12
    server = make_upstream(slug="todo", transport="stdio", command="todo", url="")
    checked = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    tell(
        redis_url,
        server,
        "one:11",
        connection_state=ConnectionState.CONNECTED,
        discovered_tools=("create_todo", "list_todos"),
        initialization_time=0.1234,
        last_health_check=checked,
        process_handle=4711,
        protocol_version="2025-11-25",
    )
    tell(
        redis_url,
        server,
        "two:12",
        connection_state=ConnectionState.FAILED,
        error="exited with status 3",
        failures=4,
        error_lines=["Traceback", "the database <b>is</b> away"],
    )
    tell(redis_url, server, "old:1", connection_state=ConnectionState.FAILED, age=3600)
    shown = status(admin_client, server)
    for expected in ("one:11", "two:12", "0.123 s", "2026-01-02", "4711", "2025-11-25"):
        assert expected in shown
    assert "exited with status 3" in shown
    assert "the database &lt;b&gt;is&lt;/b&gt; away" in shown
    # A process that was killed cannot take back what it said.
    assert "old:1" not in shown
    # The state that most needs a look stands for all.
    listed = admin_client.get(address(UpstreamServer, "changelist"))
    assert "failed" in text(listed)


def test_last_look_is_shown_with_all_it_found(admin_client: Client, redis_url: str) -> None:
    server = make_upstream()
    found = {
        "seconds": 0.5,
        "connect_seconds": 0.25,
        "protocol_version": "2025-11-25",
        "server_info": {"name": "todo", "version": "1.2"},
        "instructions": "Be kind.",
        "counts": {"tools": 2, "prompts": 1, "resources": 0, "templates": 0},
        "names": {"tools": ["a<i>", "b"], "prompts": ["c"], "resources": [], "templates": []},
        "warnings": ["No MCP tools available"],
        "unchanged": False,
        "changes": {"added": ["tool b"], "waiting": [], "changed": [], "gone": [], "back": []},
    }
    keep(redis_url, server, purpose="refresh", state="done", found=found)
    shown = " ".join(status(admin_client, server).split())
    assert "todo 1.2, protocol 2025-11-25, connected in 0.250 s, all of it took 0.500 s." in shown
    assert "<code>a&lt;i&gt;</code>, <code>b</code>" in shown
    for expected in ("2 tools", "1 prompt", "0 resources", "Be kind.", "No MCP tools available"):
        assert expected in shown
    assert "Added (1):</span> tool b" in shown
