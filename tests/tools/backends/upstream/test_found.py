"""What a connection says it found when a server tells only a part of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.tools.backends.upstream.trial import eventually, server
from tools.backends.upstream.connection import Connection
from tools.upstreams import Discovered, Upstream


async def test_prompts_that_could_not_be_listed_are_not_taken_for_gone(tmp_path: Path) -> None:
    found: list[Discovered] = []

    async def record(upstream: Upstream, discovered: Discovered) -> None:
        found.append(discovered)

    with server(tmp_path, "http", hang="prompts/list") as (upstream, _):
        connection = Connection(replace(upstream, connect_timeout=0.5), record)
        try:
            await connection.session(10)
            await eventually(lambda: found)
        finally:
            await connection.close()
    assert found[0].tools
    assert (found[0].tools_only, found[0].prompts) == (True, ())
