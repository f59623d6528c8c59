"""A process that fetches one key: `python -m tests.tools.guards.cache_worker <redis url> <seconds>`.

Counts in Redis how often the value was computed, and prints what it got. A negative number of
seconds means: begin to compute and never end.
"""

from __future__ import annotations

import asyncio
import sys

from tools.guards.cache import ResultCache
from tools.guards.redis import RedisLink


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def main(url: str, seconds: float) -> None:
    link = RedisLink(url)

    async def produce() -> int:
        number = int(await link.command("INCR", "produced"))
        say("producing")
        if seconds < 0:
            await asyncio.Event().wait()
        await asyncio.sleep(seconds)
        return number

    value, was_hit = await ResultCache(link).fetch("s", "k", 60, produce, wait_seconds=30)
    say(f"{value} {was_hit}")
    await link.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
