"""Clients that come and go leave nothing behind in the web process, however they leave."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import httpx2
import pytest

from tests.factories import make_service, make_tool
from tests.load.hands import hands
from tests.load.web import Holdings, Web, web_process
from tests.processes import wait_until
from tools.models import ToolRequest

TRANSPORTS = ("streamable_http", "sse", "websocket")
WARM_UP = 40


def campaign(transport: str, folder: Path, visits: int) -> None:
    """Many visits; then the process holds what it held before."""
    make_service(security_rate_limit=100_000_000)
    make_tool(name="echo", timeout_seconds=20)
    with (
        web_process(folder / "web.log") as web,
        hands(folder, "tests.load.visitors", (web.url, transport)) as visitors,
    ):
        visitors.answers(30)
        assert visitors.do(60, visits=WARM_UP) == [{"visits": WARM_UP, "faults": []}]
        before, size = settled(web), web.resident()
        began = time.monotonic()
        assert visitors.do(30 + visits, visits=visits) == [{"visits": visits, "faults": []}]
        seconds = time.monotonic() - began
        wait_until(lambda: open_calls() == 0, 30, "the end of every call")
        left: dict[str, object] = {}

        def nothing_left() -> bool:
            nonlocal left
            left = web.holdings().more_than(before)
            return not left

        try:
            wait_until(nothing_left, 15, "nothing left over")
        except AssertionError:
            pytest.fail(f"left over: {left}")
        sys.stdout.write(
            f"\n{transport}: {visits} visits in {seconds:.1f} s, "
            f"resident {size:.1f} -> {web.resident():.1f} MiB\n"
        )
        assert "Traceback" not in web.log, web.log[-4000:]


def settled(web: Web) -> Holdings:
    """What the process holds once its warm-up has died away."""
    # The first look at its health opens connections for good.
    httpx2.get(f"{web.url}/health", timeout=30)
    wait_until(lambda: open_calls() == 0, 30, "the end of every call")
    found = [web.holdings()]

    def steady() -> bool:
        found.append(web.holdings())
        return not found[-2].more_than(found[-1]) and not found[-1].more_than(found[-2])

    wait_until(steady, 15, "a process at rest")
    return found[-1]


def open_calls() -> int:
    return ToolRequest.objects.filter(finished_at__isnull=True).count()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_hundred_visits_leave_nothing_behind(
    transactional_db: None, redis_url: str, tmp_path: Path, transport: str
) -> None:
    campaign(transport, tmp_path, visits=100)


@pytest.mark.soak
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_thousand_visits_leave_nothing_behind(
    transactional_db: None, redis_url: str, tmp_path: Path, transport: str
) -> None:
    campaign(transport, tmp_path, visits=1000)
