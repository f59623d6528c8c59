"""Queries while they run: what callers are told, what operators see, and how they are stopped."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from tests.doors import RestDoor
from tests.processes import wait_until
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.backends.pipeline.traces import ended, pids
from tests.tools.mcp_server.clients import WAYS, User, Way, user_of
from tests.workers import Worker
from tools.guards.queries import running_queries, worker_processes
from tools.guards.redis import RedisLink

STREAMABLE = Way("streamable_http", "auto")


@pytest.fixture
def serving(worker: Worker) -> Worker:
    """The worker, with the trial configured."""
    make_trial()
    return worker


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_client_is_told_of_every_stage(door: RestDoor, serving: Worker, way: Way) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    door.client.get("/tools")
    with user_of(door.url, way) as user:
        answer = user.call("rag_trial", {"query": "moon?"}, progress_callback=progress)
    assert not answer.is_error
    assert told == [
        (1, None, "retrieve: Looking"),
        (2, None, "rerank: Sorting"),
        (3, None, "generate: Writing the answer"),
    ]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_cancelled_query_frees_its_process_which_stays(
    door: RestDoor, serving: Worker, tmp_path: Path, way: Way
) -> None:
    trace = tmp_path / "trace"
    arguments = {"query": "moon?", "delay": 25, "trace": str(trace)}
    door.client.get("/tools")
    with user_of(door.url, way) as user:
        running = user.begin(partial(_cancellable, user, arguments, trace))
        running.result(20)
        wait_until(lambda: ended(trace) == 1, 5, "the end of the query in the worker")
        assert user.call("rag_trial", {"query": "next?"}).is_error is False
    assert serving.children() == pids(trace)


async def _cancellable(user: User, arguments: dict[str, Any], trace: Path) -> None:
    """Call, and give up once the query runs."""
    async with anyio.create_task_group() as group:
        group.start_soon(user.client.call_tool, "rag_trial", arguments)
        while not pids(trace):
            await anyio.sleep(0.02)
        group.cancel_scope.cancel()


def test_rest_caller_who_hangs_up_frees_the_process(
    door: RestDoor, serving: Worker, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    door.client.get("/tools")
    address = urlsplit(door.url)
    body = (
        f'{{"tool": "rag_trial", "arguments": {{"query": "?", "delay": 25, "trace": "{trace}"}}}}'
    )
    head = (
        f"POST /call-tool HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
    )
    with socket.create_connection((str(address.hostname), address.port or 80)) as caller:
        caller.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        wait_until(lambda: len(pids(trace)) == 1, what="a running query")
    wait_until(lambda: ended(trace) == 1, 5, "the end of the query in the worker")
    assert door.call("rag_trial", {"query": "next?"}).status_code == 200
    assert serving.children() == pids(trace)


async def callers_queries(link: RedisLink) -> list[dict[str, Any]]:
    """What runs but for the test queries of the health checks."""
    return [one for one in await running_queries(link) if one["caller"] != "health check"]


async def test_operators_see_what_runs_where_and_what_was_left_behind_is_cleared(
    door: RestDoor, serving: Worker, tmp_path: Path, link: RedisLink
) -> None:
    arguments = {"query": "moon?", "delay": 3, "trace": str(tmp_path / "trace")}
    await link.command("HSET", "cp:rag:running", "killed", '{"since": 1}')
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, partial(door.call, "rag_trial", arguments))
        with anyio.fail_after(20):
            while not (seen := [one for one in await callers_queries(link) if one["message"]]):
                await anyio.sleep(0.02)
            while not (processes := await worker_processes(link)):
                await anyio.sleep(0.02)
    ((query,), (process,)) = seen, processes
    assert (query["pipeline"], query["stage"], query["message"]) == ("trial", "retrieve", "Looking")
    assert query["pid"] == process["pid"] == serving.children()[0]
    assert process["memory_mb"] > 10
    assert await callers_queries(link) == []
    assert not await link.command("HEXISTS", "cp:rag:running", "killed")
