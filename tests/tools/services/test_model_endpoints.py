"""Breakers of models' APIs that processes share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.openai_fixtures import breakers, clock, server
from tests.openai_server import Fault, OpenAiServer
from tests.processes import start_valkey
from tools.guards.sync_breaker import SyncBreakers
from tools.pipelines.blocks.endpoints.breaker import LocalBreakers, Refused, port
from tools.services.model_endpoints import SharedBreakers, connect_breakers

__all__ = ["breakers", "clock", "server"]

NOW = 1_800_000_000


class Caller:
    """Another process that asks the API."""

    def __init__(self, url: str, redis_url: str, now: int = NOW) -> None:
        module = "tests.tools.services.model_caller"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, url, redis_url, str(now)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("Who?\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def stop(self) -> None:
        self._process.communicate(timeout=20)


@pytest.fixture
def callers(server: OpenAiServer, redis_url: str) -> Iterator[list[Caller]]:
    """Two processes of now and two of a minute later."""
    started = [Caller(server.url, redis_url, NOW + later) for later in (0, 0, 60, 60)]
    yield started
    for caller in started:
        caller.stop()


def test_processes_open_and_close_one_breaker_together(
    server: OpenAiServer, callers: list[Caller]
) -> None:
    # S2-060
    first, second, later, latest = callers
    server.always = Fault(status=503)
    assert [first.ask(), second.ask(), first.ask()] == ["EndpointDown"] * 3
    assert [first.ask(), second.ask()] == ["EndpointClosed"] * 2
    assert len(server.requests) == 3
    server.always = None
    assert later.ask() == "".join(server.text)
    assert [latest.ask(), first.ask()] == ["".join(server.text)] * 2


def test_without_redis_a_process_counts_for_itself(tmp_path: Path, breakers: LocalBreakers) -> None:
    away = SyncBreakers(f"unix://{tmp_path}/nowhere.sock")
    connect_breakers(away)
    assert isinstance(port.breakers, SharedBreakers)
    for _ in range(3):
        port.breakers.admit("llm_api").failure()
    with pytest.raises(Refused) as refused:
        port.breakers.admit("llm_api")
    assert 0 < refused.value.retry_after <= 60
    away.close()


def test_outcome_that_redis_does_not_hear_of_is_no_error(
    tmp_path_factory: pytest.TempPathFactory, breakers: LocalBreakers
) -> None:
    folder = tmp_path_factory.mktemp("r")
    redis = start_valkey(folder, folder / "s")
    shared = SyncBreakers(f"unix://{folder}/s")
    permits = [SharedBreakers(shared).admit("llm_api") for _ in range(3)]
    redis.kill()
    redis.wait(10)
    permits[0].success()
    permits[1].failure()
    permits[2].abandon()
    # The next one is counted here.
    SharedBreakers(shared).admit("llm_api").success()
    shared.close()


def test_breakers_are_those_of_the_deployments_redis(
    redis_url: str, breakers: LocalBreakers
) -> None:
    connect_breakers()
    for _ in range(3):
        port.breakers.admit("llm_api").failure()
    elsewhere = SharedBreakers(SyncBreakers(redis_url))
    with pytest.raises(Refused):
        elsewhere.admit("llm_api")
    elsewhere.shared.close()
