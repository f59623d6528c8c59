"""The log of a child in Redis: whole, bounded, without secrets, and there after its end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from tests.tools.backends.upstream.trial import connection_to
from tools.backends.ports import ports
from tools.backends.upstream.children.log import PROCESS, ChildLog
from tools.backends.upstream.connection import Down
from tools.guards.redis import RedisLink
from tools.upstreams import Upstream, UpstreamTransport
from tools.upstreams.child_logs import KEPT_LINES, LOG_KEY, LOGS_KEY
from tools.vault import seal

SECRET = "s3cret-of-the-child"
Told = list[tuple[str, str]]


@pytest.fixture
def program(
    link: RedisLink, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Upstream]:
    """A server whose program is the given text."""
    monkeypatch.setattr(ports, "link", link)

    def made(text: str) -> Upstream:
        entry = {"command": [sys.executable, "-c", text], "environment": ["API_KEY"]}
        commands = {"noisy": entry}
        settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": commands}
        sealed = seal(json.dumps({"API_KEY": SECRET}))
        return Upstream("noisy", UpstreamTransport.STDIO, command="noisy", environment=sealed)

    return made


async def written(link: RedisLink) -> Told:
    key = LOG_KEY.format(slug="noisy", process=PROCESS)
    entries: list[dict[str, Any]] = [
        json.loads(text) for text in await link.command("LRANGE", key, 0, -1)
    ]
    return [(one["what"], one["text"]) for one in entries]


async def heard(link: RedisLink, upstream: Upstream) -> Told:
    """What is in the log after one attempt to connect."""
    async with connection_to(upstream) as connection:
        with pytest.raises(Down):
            await connection.session(20)
    return await written(link)


async def test_a_program_that_another_loop_starts_leaves_the_link_alone(
    link: RedisLink, program: Callable[[str], Upstream]
) -> None:
    upstream = program("import sys; print('up', file=sys.stderr); sys.exit(7)")

    async def attempt() -> None:
        async with connection_to(upstream) as connection:
            with pytest.raises(Down, match="status 7"):
                await connection.session(20)

    # As a worker looks at a server, beside the runtime that it has for tasks.
    await link.command("PING")
    await asyncio.to_thread(lambda: asyncio.run(attempt()))
    assert await written(link) == []


async def test_last_words_and_exit_code_are_kept_without_secrets(
    link: RedisLink, program: Callable[[str], Upstream]
) -> None:
    told = await heard(
        link,
        program(
            "import os, sys\n"
            "print('debug: I am up')\n"
            "print('the key is', os.environ['API_KEY'], file=sys.stderr)\n"
            "print('password=hunter2222 \\N{OTTER}', file=sys.stderr)\n"
            "sys.exit(7)\n"
        ),
    )
    assert sorted(told) == [
        ("ended", "exited with status 7"),
        ("printed", "debug: I am up"),
        ("started", ""),
        ("wrote", "password=[redacted] \N{OTTER}"),
        ("wrote", "the key is [redacted]"),
    ]
    names = await link.command("ZRANGE", LOGS_KEY.format(slug="noisy"), 0, -1)
    assert names == [PROCESS]


async def test_child_that_floods_keeps_its_latest_lines(
    link: RedisLink, program: Callable[[str], Upstream]
) -> None:
    flood = "import sys\nfor n in range(800):\n    print(n, 'x' * 3000, file=sys.stderr)\n"
    told = await heard(link, program(flood))
    assert len(told) == KEPT_LINES
    assert told[-1] == ("ended", "exited with status 0")
    assert told[-2][1].startswith("799 xxx")
    assert max(len(text) for _, text in told) == 1000


async def test_program_that_cannot_be_started_is_told_with_the_reason(
    link: RedisLink, program: Callable[[str], Upstream], settings: Settings
) -> None:
    upstream = program("")
    settings.CONTROL_PLANE["UPSTREAM_COMMANDS"]["noisy"]["command"] = ["/nowhere/at-all"]
    assert await heard(link, upstream) == [
        ("ended", "cannot be started: no such file or directory")
    ]


async def test_lines_wait_while_redis_is_away(
    link: RedisLink, dead_link: RedisLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "link", dead_link)
    log = ChildLog("noisy")
    for number in range(KEPT_LINES + 5):
        log.wrote(str(number))
    await log.flush()
    assert await written(link) == []
    monkeypatch.setattr(ports, "link", link)
    await log.flush()
    told = await written(link)
    assert told[-1] == ("wrote", str(KEPT_LINES + 4))
    assert len(told) == KEPT_LINES


async def test_process_without_redis_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "link", None)
    log = ChildLog("noisy")
    log.started(1)
    log.ended("exited with status 0")
    await log.flush()


async def test_process_that_loses_redis_at_its_end_stops_sending(
    dead_link: RedisLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "link", dead_link)
    log = ChildLog("noisy")
    log.started(1)
    log.ended("exited with status 0")
    (sending,) = asyncio.all_tasks() - {asyncio.current_task()}
    monkeypatch.setattr(ports, "link", None)
    # Were it to go on, it would never let anything else have its turn.
    await asyncio.wait_for(sending, 5)
