"""Workers that look at MCP servers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_upstream import stdio_entry
from tests.processes import wait_until
from tests.workers import Worker, celery_worker
from tools.models import UpstreamServer
from tools.services.ask_upstream import Asked, Purpose, ask, read_asked

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
