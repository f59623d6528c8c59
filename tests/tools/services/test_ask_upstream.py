"""Looks at MCP servers that real workers take, within their limits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_upstream import HttpUpstream, Record, http_upstream, stdio_entry
from tests.processes import wait_until
from tests.upstream_rows import make_upstream
from tests.workers import Worker, celery_worker
from tools.models import Tool, UpstreamItem, UpstreamServer
from tools.services.ask_upstream import Asked, AskFault, AskState, Purpose, answer, ask, read_asked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

LOOK_SECONDS = 60
TALKATIVE = "import sys; print('password=hunter2222', file=sys.stderr); sys.exit(3)"


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    """A worker that may start two commands: a server, and a program that only complains."""
    (tmp_path / "local").mkdir()
    commands = {
        "trial": stdio_entry(tmp_path / "local"),
        "broken": {"command": [sys.executable, "-c", TALKATIVE]},
    }
    listed = json.dumps(commands)
    with celery_worker(tmp_path / "worker.log", 1, UPSTREAM_COMMANDS=listed) as started:
        yield started


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[HttpUpstream]:
    """A server behind a port."""
    with http_upstream(tmp_path / "remote") as started:
        yield started


def row(url: str, **changes: Any) -> UpstreamServer:
    return make_upstream(url=url, allowed_networks=["127.0.0.0/8"], **changes)


def outcome(server: UpstreamServer, purpose: Purpose) -> Asked:
    """What a worker finds."""
    ask(server, purpose, "admin")

    def ended() -> bool:
        found = read_asked(server.pk)
        return found is not None and not found.busy

    wait_until(ended, LOOK_SECONDS, "an answer of a worker")
    found = read_asked(server.pk)
    assert found is not None
    return found


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


def test_program_is_started_from_the_list_and_ended_again(worker: Worker, tmp_path: Path) -> None:
    server = make_upstream(transport="stdio", command="trial", url="", connect_timeout=20)
    asked = outcome(server, Purpose.TEST)
    assert (asked.state, asked.message) == (AskState.DONE, "")
    record = Record(tmp_path / "local")
    assert record.pids()
    wait_until(lambda: not record.alive(), what="no process left behind")


def test_program_that_ends_at_once_is_told_with_its_last_words(worker: Worker) -> None:
    server = make_upstream(transport="stdio", command="broken", url="", connect_timeout=20)
    asked = outcome(server, Purpose.TEST)
    assert asked.state is AskState.FAILED
    assert "exited with status 3" in asked.message
    assert asked.error_lines
    assert "hunter2222" not in "".join(asked.error_lines) + asked.message


def test_command_outside_the_list_is_never_started(worker: Worker, tmp_path: Path) -> None:
    server = make_upstream(transport="stdio", command="unheard-of", url="")
    asked = outcome(server, Purpose.TEST)
    assert "the command unheard-of is not in UPSTREAM_COMMANDS" in asked.message


def test_second_question_waits_for_the_first_and_a_late_worker_finds_nothing_to_do() -> None:
    server = make_upstream()
    question = ask(server, Purpose.TEST, "admin")
    with pytest.raises(AskFault, match="under way already"):
        ask(server, Purpose.TEST, "admin")
    answer("of-somebody-else", server.pk)
    assert read_asked(server.pk) == question
