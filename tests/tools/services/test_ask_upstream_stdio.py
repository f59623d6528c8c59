"""Looks at MCP servers that are programs: real workers start them from the list, and end them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp_upstream import Record
from tests.processes import wait_until
from tests.tools.services.upstream_looks import outcome, worker
from tests.upstream_rows import make_upstream
from tests.workers import Worker
from tools.services.ask_upstream import AskState, Purpose

__all__ = ["worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


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
