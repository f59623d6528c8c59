"""A web process that stops answers what ends in time, and tells those whose calls it cuts off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.factories import make_service, make_tool
from tests.load.web import Web, web_process
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way
from tests.tools.mcp_server.raw_doors import Answer, raw_client, request
from tools.models import ToolRequest

# Leaves calls under way a second to end.
GRACEFUL = 3.25


@contextmanager
def stopping(
    folder: Path, delay: float
) -> Iterator[tuple[Web, Callable[[], Mapping[Way, Answer]]]]:
    """A process that is to stop while a call runs over every way, and what gives the answers to those calls."""
    make_service()
    make_tool(name="echo", timeout_seconds=60)

    def ask(way: Way) -> Answer:
        asked = request(way, "tools/call", {"name": "echo", "arguments": {"delay": delay}})
        with raw_client(web.url, way) as client:
            return client.send(json.dumps(asked))

    with web_process(folder / "web.log", GRACEFUL) as web, ThreadPoolExecutor(len(WAYS)) as pool:
        asking = {way: pool.submit(ask, way) for way in WAYS}
        wait_until(lambda: ToolRequest.objects.count() == len(WAYS), what="the calls to begin")
        yield web, lambda: {way: answer.result() for way, answer in asking.items()}
        assert "Traceback" not in web.log, web.log[-4000:]


def test_calls_that_end_in_time_are_answered(
    transactional_db: None, redis_url: str, tmp_path: Path
) -> None:
    # As long as calls have once the stop has begun, and they began before it.
    with stopping(tmp_path, delay=1.0) as (web, answers):
        web.stop()
        told = {way: answer.result["isError"] for way, answer in answers().items()}
    assert told == dict.fromkeys(WAYS, False)


def test_calls_cut_off_by_a_stop_are_told_so_and_logged(
    transactional_db: None, redis_url: str, tmp_path: Path
) -> None:
    with stopping(tmp_path, delay=30) as (web, answers):
        assert web.stop() < GRACEFUL + 1
        told = answers()
    for way, answer in told.items():
        if way.transport == "streamable_http":
            assert (answer.status, answer.error["message"]) == (503, "The service is stopping")
        else:
            assert answer.error["message"] == "Connection closed", way
    # What the process could not write any more, the next one does.
    with web_process(tmp_path / "next.log"):
        wait_until(
            lambda: not ToolRequest.objects.filter(finished_at__isnull=True).exists(),
            what="final rows",
        )
    codes = list(ToolRequest.objects.values_list("code", flat=True))
    assert codes == ["SERVICE_UNAVAILABLE"] * len(WAYS)
