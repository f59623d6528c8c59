"""What children write to their error output: kept beyond their end, bounded, and without secrets."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
from pytest_django import Settings

from tests.tools.backends.upstream.trial import connection_to
from tools.backends.ports import ports
from tools.backends.upstream.connection import Down
from tools.backends.upstream.manager import Manager
from tools.guards.redis import RedisLink
from tools.upstreams import Upstream, UpstreamTransport
from tools.vault import seal

SECRET = "s3cret-of-the-child"
PROGRAM = """
import os, sys
for number in range(60):
    print("line", number, file=sys.stderr)
print("the key is", os.environ["API_KEY"], "x" * 1000, file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture
def talkative(settings: Settings) -> Upstream:
    """A program that complains at length and ends."""
    entry: dict[str, Any] = {
        "command": [sys.executable, "-c", PROGRAM],
        "environment": ["API_KEY"],
    }
    commands = {"talkative": entry}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": commands}
    sealed = seal(json.dumps({"API_KEY": SECRET}))
    return Upstream("talkative", UpstreamTransport.STDIO, command="talkative", environment=sealed)


async def test_last_words_outlast_the_child_without_its_secrets(talkative: Upstream) -> None:
    async with connection_to(talkative) as connection:
        with pytest.raises(Down, match="exited with status 3"):
            await connection.session(20)
        lines = connection.error_lines()
    assert len(lines) == 20
    assert lines[0] == "line 41"
    assert lines[-1].startswith("the key is [redacted] xxx")
    assert SECRET not in "".join(lines)


async def test_last_words_are_told_in_short_with_the_state(
    link: RedisLink, talkative: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "link", link)
    manager = Manager()
    try:
        with pytest.raises(Down):
            await manager.connection(talkative).session(20)
        report = await _told(link)
    finally:
        await manager.close()
    assert "exited with status 3" in report["error"]
    assert len(report["error_lines"]) == 20
    assert max(map(len, report["error_lines"])) == 300
    assert SECRET not in json.dumps(report)


async def _told(link: RedisLink) -> dict[str, Any]:
    """What the process tells, once it has heard the child."""
    async with asyncio.timeout(20):
        while True:
            for written in (await link.command("HGETALL", "cp:upstream:talkative"))[1::2]:
                report: dict[str, Any] = json.loads(written)
                if report["error_lines"]:
                    return report
            await asyncio.sleep(0.02)
