"""The connections of a process follow the catalogue, whatever calls that began before it hold."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tools.backends.upstream.trial import eventually, server, trial
from tools.backends.ports import ports
from tools.backends.upstream.manager import Manager
from tools.errors import TransportFault
from tools.guards.redis import RedisLink
from tools.upstreams.states import STATE_KEY


async def test_a_call_from_before_a_change_goes_to_the_server_as_it_is_configured_now(
    tmp_path: Path,
) -> None:
    with (
        server(tmp_path / "old", "http") as (before, old),
        server(tmp_path / "new", "http") as (after, new),
    ):
        async with trial(before) as calls:
            await calls.call("echo")
            calls.backend.manager().follow({"trial": after})
            await calls.call("echo", text="moved")
            assert [call["arguments"] for call in new.executions("echo")] == [{"text": "moved"}]
            assert len(old.executions("echo")) == 1
            (connection,) = calls.backend.manager().connections()
            assert connection.upstream is after


async def test_a_call_from_before_its_server_was_removed_starts_nothing(tmp_path: Path) -> None:
    with server(tmp_path / "trial", "stdio") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("echo")
            calls.backend.manager().follow({})
            started = len(hand.pids())
            with pytest.raises(TransportFault, match="cannot be reached"):
                await calls.call("echo")
            assert calls.backend.manager().connections() == ()
            assert len(hand.pids()) == started
            await eventually(lambda: not hand.alive())


async def test_the_state_of_a_changed_connection_is_told_and_stays_told(
    tmp_path: Path, link: RedisLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "link", link)
    manager = Manager()

    async def told() -> list[dict[str, Any]]:
        found = await link.command("HVALS", STATE_KEY.format(slug="trial"))
        return [json.loads(one) for one in found]

    with (
        server(tmp_path / "old", "stdio") as (before, old),
        server(tmp_path / "new", "http") as (after, _),
    ):
        try:
            await manager.connection(before).session(15)
            # It takes its time to go, longer than the new one takes to come.
            (child,) = old.alive()
            os.kill(child, signal.SIGSTOP)
            manager.follow({"trial": after})
            await manager.connection(after).session(15)
            await asyncio.wait(manager._closing)
            assert not old.alive()
            (state,) = await told()
            assert (state["transport_type"], state["lifecycle"]) == ("streamable_http", "connected")
        finally:
            await manager.close()
    assert await told() == []


async def test_a_server_that_is_changed_while_it_is_connected_to_leaves_no_task_behind(
    tmp_path: Path,
) -> None:
    with server(tmp_path / "trial", "http", hang="connect") as (upstream, _):
        manager = Manager()
        before = asyncio.all_tasks()
        for seconds in (3.0, 4.0, 5.0):
            changed = replace(upstream, connect_timeout=seconds)
            manager.follow({"trial": changed})
            manager.connection(changed).begin()
            manager.connection(changed).attention.set()
            await asyncio.sleep(0.1)
        await manager.close()
        await eventually(lambda: asyncio.all_tasks() <= before)
