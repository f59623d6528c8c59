"""A process that holds slots: `python -m tests.tools.guards.slot_worker <mode> <redis url> ...`.

hold <name> <limit> <lease>          hold a slot until killed
wait <name> <limit>                  queue for a slot and, once it has one, hold it until killed
load <name> <limit> <tasks> <rounds> let many tasks compete; prints the most it saw at work at once
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Coroutine

from tools.guards.concurrency import Slots
from tools.guards.redis import RedisLink, connect

BEGIN = """
local working = redis.call('INCR', KEYS[1])
if working > tonumber(redis.call('GET', KEYS[2]) or 0) then
  redis.call('SET', KEYS[2], working)
end
return working
"""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def hold(url: str, name: str, limit: str, lease: str) -> None:
    link = RedisLink(url)
    async with Slots(link, lease_seconds=float(lease)).hold(name, int(limit), 10):
        say("held")
        await asyncio.Event().wait()


async def wait(url: str, name: str, limit: str) -> None:
    link = RedisLink(url)
    say("waiting")
    async with Slots(link).hold(name, int(limit), 60):
        say("held")
        await asyncio.Event().wait()


async def load(url: str, name: str, limit: str, tasks: str, rounds: str) -> None:
    link = RedisLink(url)
    slots = Slots(link)
    # The gauge has a connection of its own, so that its count owes nothing to the link's order.
    gauge = connect(url)

    async def work() -> None:
        for _ in range(int(rounds)):
            async with slots.hold(name, int(limit), 60):
                await gauge.eval(BEGIN, 2, "working", "most")
                await asyncio.sleep(random.uniform(0, 0.004))  # noqa: S311 - jitter
                await gauge.decr("working")
                await gauge.incr("done")

    await asyncio.gather(*(work() for _ in range(int(tasks))))
    await gauge.aclose()
    await slots.close()
    await link.close()
    say("finished")


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    modes: dict[str, Callable[..., Coroutine[None, None, None]]]
    modes = {"hold": hold, "wait": wait, "load": load}
    asyncio.run(modes[mode](*arguments))
