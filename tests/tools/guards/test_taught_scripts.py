"""Scripts are sent once per connection, and again when the server has forgotten them."""

from __future__ import annotations

import pytest

from tools.guards.redis import RedisDown, RedisLink

ADD = "return tonumber(ARGV[1]) + tonumber(ARGV[2])"


async def calls(link: RedisLink, name: str) -> int:
    found = await link.command("INFO", "commandstats")
    line = next((one for one in found.splitlines() if one.startswith(f"cmdstat_{name}:")), "")
    return int(line.partition("calls=")[2].partition(",")[0] or 0)


async def test_a_script_goes_over_the_wire_once(link: RedisLink) -> None:
    await link.command("PING")
    whole, short = await calls(link, "eval"), await calls(link, "evalsha")
    assert [await link.script(ADD, [], 1, number) for number in range(5)] == [1, 2, 3, 4, 5]
    assert (await calls(link, "eval"), await calls(link, "evalsha")) == (whole + 1, short + 4)


async def test_a_forgotten_script_is_sent_again(link: RedisLink) -> None:
    await link.command("PING")
    assert [await link.script(ADD, [], 1, 1) for _ in range(2)] == [2, 2]
    await link.command("SCRIPT", "FLUSH")
    with pytest.raises(RedisDown):
        await link.script(ADD, [], 1, 1)
    assert link.available
    assert await link.script(ADD, [], 1, 1) == 2
