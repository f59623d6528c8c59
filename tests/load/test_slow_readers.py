"""Clients that never read cost the others nothing, and the process a bounded amount of memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.factories import make_service, make_tool
from tests.load.hands import Hands, hands
from tests.load.web import Web, web_process
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS
from tools.mcp_server.transports.conversation import MOST_OPEN
from tools.models import Tool

GRACEFUL = 4.0
KINDS = 5
# Kilobytes of each large answer. It is asked for many more times than a connection may have open.
LARGE = 100
# Copies of an answer that wait with it: its data, its text, what is being written.
COPIES = 3
SLACK = 40.0


def campaign(folder: Path, idle: int, changes: int, seconds: float) -> None:
    """Idle clients of every kind, then a changing catalogue, and busy clients beside them."""
    make_service(security_rate_limit=100_000_000)
    tool = make_tool(name="echo", timeout_seconds=60)
    busy = (WAYS[4].transport, WAYS[4].mode, 5)
    with (
        web_process(folder / "web.log", GRACEFUL) as web,
        hands(folder, "tests.load.crowd", (web.url, *busy)) as clients,
        hands(folder, "tests.load.idlers", (web.url, LARGE)) as idlers,
    ):
        clients.answers(30)
        idlers.answers(30)
        alone = calls_in(seconds, clients)
        sizes = [web.resident()]
        assert idlers.do(120, idle=idle) == [{"idle": idle * KINDS}]
        at_rest(web)
        sizes.append(web.resident())
        beside = calls_in(seconds, clients)
        clients.begin(calls=seconds)
        change(tool, changes)
        assert clients.answers(60 + seconds)[0]["faults"] == []
        sizes.append(web.resident())
        stopped = web.stop()
        sys.stdout.write(
            f"\n{idle * KINDS} idle clients, {changes} changes: {alone} -> {beside} calls of the "
            f"others in {seconds:g} s, resident {' -> '.join(f'{size:.1f}' for size in sizes)} MiB, "
            f"stopped in {stopped:.1f} s\n"
        )
        assert "Traceback" not in web.log, web.log[-4000:]
    assert beside > alone / 5
    # Over SSE and WebSocket answers wait for the client; elsewhere there is one at a time.
    waiting = 2 * idle * MOST_OPEN * LARGE * COPIES / 1024
    assert max(sizes) - sizes[0] < waiting + SLACK
    assert stopped < GRACEFUL


def calls_in(seconds: float, clients: Hands) -> int:
    """How many calls the busy clients get through, all of them well."""
    told = clients.do(60 + seconds, calls=seconds)[0]
    assert told["faults"] == []
    return len(told["ids"])


def at_rest(web: Web) -> None:
    """Wait until the process has done what it was asked for."""
    used = [web.processor_seconds()]

    def quiet() -> bool:
        used.append(web.processor_seconds())
        return len(used) > 50 and used[-1] - used[-50] < 0.2

    wait_until(quiet, 60, "a process at rest")


def change(tool: Tool, changes: int) -> None:
    """Change what everybody is listed, again and again."""
    for number in range(changes):
        tool.description = f"Answers with its arguments, version {number}."
        tool.save()


def test_clients_that_never_read_are_no_burden(
    transactional_db: None, redis_url: str, tmp_path: Path
) -> None:
    campaign(tmp_path, idle=1, changes=50, seconds=1)


@pytest.mark.soak
def test_twenty_five_clients_that_never_read_are_no_burden(
    transactional_db: None, redis_url: str, tmp_path: Path
) -> None:
    campaign(tmp_path, idle=5, changes=200, seconds=15)
