"""How many children one process has, and how large one may grow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pytest_django import Settings

from tests.tools.backends.upstream.children.conftest import Starts
from tests.tools.backends.upstream.transports.talk import ask, asked, opened
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.children.limits import places


def most(settings: Settings, number: int) -> None:
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_MAX_CHILDREN": number}


async def test_no_more_children_are_started_than_may_be(starts: Starts, settings: Settings) -> None:
    upstream = starts(connect_timeout=15)
    before = places.taken
    most(settings, before + 2)
    async with opened(upstream), opened(upstream):
        assert places.taken == before + 2
        with pytest.raises(ChannelFault, match=f"may have {before + 2} ") as told:
            async with opened(upstream):
                pass
        assert "UPSTREAM_MAX_CHILDREN" in str(told.value)
        assert not told.value.sent
    assert places.taken == before
    async with opened(upstream):
        assert places.taken == before + 1


async def test_a_child_that_cannot_be_started_leaves_its_place_free(
    commands: dict[str, Any], starts: Starts
) -> None:
    upstream = starts(connect_timeout=15)
    before = places.taken
    for entry in ({"command": ["/no/such/program"]}, {"command": ["true"], "directory": "/none"}):
        commands["plain"] = entry
        for _ in range(3):
            with pytest.raises(ChannelFault):
                async with opened(upstream):
                    pass
    assert places.taken == before


async def test_a_child_that_takes_too_much_memory_is_ended_and_told(starts: Starts) -> None:
    async with opened(starts(memory_mb=64, connect_timeout=15)) as channel:
        await asked(channel, ask(1, "hog", mb=10))
        growing = asyncio.gather(
            asked(channel, ask(2, "hog", mb=100)),
            asked(channel, ask(3, "keep")),
        )
        with pytest.raises(ChannelFault, match="killed: used more than 64 MB"):
            await growing
