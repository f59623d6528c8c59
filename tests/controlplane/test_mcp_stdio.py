"""`manage.py mcp_stdio`: real processes, used by the SDK's client and message by message."""

from __future__ import annotations

import asyncio
import getpass
import json
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.controlplane.alone import HANDSHAKE, Alone, Process, alone, process
from tests.controlplane.stack import empty_stack
from tests.processes import start_valkey, wait_until

ERAS = ("legacy", "2026-07-28")
OPERATOR = f"local:{getpass.getuser()}"


@pytest.fixture(scope="module")
def without_redis() -> Iterator[Alone]:
    with alone() as made:
        yield made


@pytest.fixture(scope="module")
def with_redis() -> Iterator[Alone]:
    with alone() as made:
        server = start_valkey(made.paths.redis_dir, made.paths.redis_socket)
        yield made
        server.terminate()
        server.wait(10)


@pytest.fixture(params=["without_redis", "with_redis"])
def made(request: pytest.FixtureRequest) -> Alone:
    """The folder, once with a Redis in it and once without."""
    found: Alone = request.getfixturevalue(request.param)
    return found


def call(request_id: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def wait_for_line(path: Path, line: str) -> None:
    wait_until(lambda: path.exists() and line in path.read_text().split(), what=line)


@pytest.mark.parametrize("era", ERAS)
async def test_client_lists_calls_and_hears_of_progress(made: Alone, era: str) -> None:
    # S4-059 F0-28 F4-10 C04
    before = len(made.ended("echo"))
    heard: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with Client(made.server(), mode=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "slow"]
        result = await client.call_tool("echo", {"word": "hi"})
        await client.call_tool("slow", {"reports": "half"}, progress_callback=note)
    assert not result.is_error
    assert result.structured_content == {"echo": {"word": "hi"}}
    assert heard == ["half"]
    row = made.next_ended("echo", before)
    assert (row["transport"], row["caller"], row["state"]) == ("stdio", OPERATOR, "completed")
    assert uuid.UUID(row["request_id"]) == uuid.UUID((result.meta or {})["request_id"])


@pytest.mark.parametrize("era", ERAS)
async def test_cancelled_call_is_closed_and_the_client_goes_on(
    without_redis: Alone, tmp_path: Path, era: str
) -> None:
    before = len(without_redis.ended("slow"))
    trace = tmp_path / "trace"
    async with Client(without_redis.server(), mode=era) as client:
        arguments = {"delay": 50, "trace": str(trace)}
        calling = asyncio.create_task(client.call_tool("slow", arguments))
        await asyncio.to_thread(wait_for_line, trace, "started")
        calling.cancel()
        await asyncio.to_thread(wait_for_line, trace, "cancelled")
        result = await client.call_tool("echo", {})
    assert not result.is_error
    row = without_redis.next_ended("slow", before)
    assert (row["state"], row["error"]) == ("failed", "The caller went away")


def under_way(made: Alone, tmp_path: Path, running: Process) -> None:
    """Leave a call running, and the client waiting for it."""
    trace = tmp_path / "trace"
    running.send(*HANDSHAKE, call(1, "slow", delay=50, trace=str(trace)))
    running.answer(0)
    wait_for_line(trace, "started")


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_end_of_input_and_signals_end_it_with_its_calls_closed(
    made: Alone, tmp_path: Path, number: int | None
) -> None:
    before = len(made.ended("slow"))
    with process(made, "mcp_stdio") as running:
        under_way(made, tmp_path, running)
        if number is None:
            running.close_input()
        else:
            running.signal(number)
        assert running.wait() == 0
    row = made.next_ended("slow", before)
    assert (row["state"], row["error"]) == ("failed", "The caller went away")
    assert "Traceback" not in "".join(running.told)
    for line in running.printed:
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_what_was_asked_before_the_input_ended_is_answered(without_redis: Alone) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with process(without_redis, "mcp_stdio") as running:
        running.send(*HANDSHAKE, listing, call(2, "echo"))
        running.close_input()
        assert running.wait() == 0
    answers = {message["id"]: message for message in map(json.loads, running.printed)}
    assert set(answers) == {0, 1, 2}
    assert answers[2]["result"]["structuredContent"] == {"echo": {}}


def test_line_that_cannot_be_read_is_answered_and_the_client_goes_on(
    without_redis: Alone,
) -> None:
    with process(without_redis, "mcp_stdio", MAX_BODY_BYTES="2000") as running:
        running.send("not JSON", "", "x" * 300_000, *HANDSHAKE)
        codes = [running.answer(None)["error"]["code"] for _ in range(2)]
        assert running.answer(0)["result"]["serverInfo"]["name"] == "mcp-control-plane"
        running.close_input()
        assert running.wait() == 0
    assert codes == [-32700, -32600]
    assert len(running.printed) == 3


@contextmanager
def talking(made: Alone) -> Iterator[subprocess.Popen[bytes]]:
    """A process after the handshake whose output nobody reads any further."""
    server = made.server()
    with subprocess.Popen(
        [server.command, *server.args],
        env=server.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps(HANDSHAKE[0]).encode() + b"\n")
        running.stdin.flush()
        assert running.stdout.readline()
        yield running


def test_client_that_goes_away_as_a_reader_ends_it(without_redis: Alone) -> None:
    with talking(without_redis) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdout.close()
        running.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        running.stdin.flush()
        assert running.wait(30) == 0


def test_client_that_does_not_read_keeps_it_from_nothing(
    without_redis: Alone, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    with talking(without_redis) as running:
        assert running.stdin is not None
        listing = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
        # More than fits into a pipe comes back; what is asked last is still done.
        running.stdin.write(listing * 500)
        running.stdin.write(json.dumps(call(2, "slow", trace=str(trace))).encode() + b"\n")
        running.stdin.flush()
        wait_for_line(trace, "started")
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0


async def test_key_makes_the_client_that_api_client(with_redis: Alone) -> None:
    # Given in the environment, where `ps` does not show it.
    server = with_redis.server(CONTROL_PLANE_KEY=with_redis.key)
    before = len(with_redis.ended("echo"))
    async with Client(server, mode="legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        first = await client.call_tool("echo", {"shared": 1})
        with pytest.raises(MCPError, match="slow"):
            await client.call_tool("slow", {})
    async with Client(with_redis.server("--key", with_redis.key), mode="legacy") as client:
        second = await client.call_tool("echo", {"shared": 1})
    assert with_redis.next_ended("echo", before)["caller"] == "client:1"
    # What one process keeps in Redis, the next one finds.
    assert [(result.meta or {})["cache_hit"] for result in (first, second)] == [False, True]


async def test_toolset_is_a_server_of_its_own(without_redis: Alone) -> None:
    async with Client(without_redis.server("--toolset", "mine"), mode="legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        shown = client.server_info
    assert shown is not None
    assert (shown.name, shown.title) == ("mine", "My tools")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--key", "cp_wrong"), "API key is not known"),
        (("--toolset", "none-such"), "There is no toolset none-such"),
    ],
)
def test_unknown_key_or_toolset_is_refused_before_the_handshake(
    without_redis: Alone, arguments: tuple[str, ...], reason: str
) -> None:
    refused = without_redis.manage("mcp_stdio", *arguments)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert reason in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr


def test_database_without_tables_is_said_plainly() -> None:
    with empty_stack() as empty:
        refused = empty.manage("mcp_stdio")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert "manage.py up" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_change_of_the_catalogue_reaches_a_client_of_the_handshake_era(made: Alone) -> None:
    with process(made, "mcp_stdio") as running:
        running.send(*HANDSHAKE)
        running.answer(0)
        made.shell("from tests.factories import make_tool; make_tool(name='extra')")
        running.message(lambda message: message.get("method") == "notifications/tools/list_changed")
        made.shell("from tools.models import Tool; Tool.objects.get(name='extra').delete()")


async def test_change_of_the_catalogue_reaches_a_subscriber(without_redis: Alone) -> None:
    add = "from tests.factories import make_tool; make_tool(name='extra')"
    remove = "from tools.models import Tool; Tool.objects.get(name='extra').delete()"
    async with Client(without_redis.server(), mode="2026-07-28") as client:
        async with client.listen(tools_list_changed=True) as changes:
            await asyncio.to_thread(without_redis.shell, add)
            async for _ in changes:
                break
        names = [tool.name for tool in (await client.list_tools()).tools]
    await asyncio.to_thread(without_redis.shell, remove)
    assert names == ["echo", "extra", "slow"]
