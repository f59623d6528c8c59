"""A web process that stops answers what ends in time, and tells those whose calls it cuts off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.factories import make_service, make_tool
from tests.load.web import Web, web_process
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way
from tests.tools.mcp_server.raw_doors import Answer, raw_client, request
from tools.models import ToolRequest

# Leaves calls under way a second to end.
GRACEFUL = 3.25


@contextmanager
def stopping(folder: Path, way: Way, delay: float) -> Iterator[tuple[Web, Callable[[], Answer]]]:
    """A process that stops while a call runs, and what gives the answer to that call."""
    make_service()
    make_tool(name="echo", timeout_seconds=60)
    asked = json.dumps(request(way, "tools/call", {"name": "echo", "arguments": {"delay": delay}}))

    def ask() -> Answer:
        with raw_client(web.url, way) as client:
            return client.send(asked)

    with web_process(folder / "web.log", GRACEFUL) as web, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        wait_until(lambda: ToolRequest.objects.count() == 1, what="the call to begin")
        yield web, answer.result
        assert "Traceback" not in web.log, web.log[-4000:]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_call_that_ends_in_time_is_answered(
    transactional_db: None, redis_url: str, tmp_path: Path, way: Way
) -> None:
    with stopping(tmp_path, way, delay=0.5) as (web, answer):
        web.stop()
        assert answer().result["isError"] is False


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_call_cut_off_by_a_stop_is_told_so_and_logged(
    transactional_db: None, redis_url: str, tmp_path: Path, way: Way
) -> None:
    with stopping(tmp_path, way, delay=30) as (web, answer):
        assert web.stop() < GRACEFUL + 1
        told = answer()
    if way.transport == "streamable_http":
        assert (told.status, told.error["message"]) == (503, "The service is stopping")
    else:
        assert told.error["message"] == "Connection closed"
    # What the process could not write any more, the next one does.
    with web_process(tmp_path / "next.log"):
        wait_until(lambda: ToolRequest.objects.get().finished_at is not None, what="a final row")
    assert ToolRequest.objects.get().code == "SERVICE_UNAVAILABLE"
