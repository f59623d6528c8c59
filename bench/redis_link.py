"""One round trip of two commands, as a call makes it: redis-py's pipeline beside our shared link.

Run with `python -m bench.redis_link`. The ratio is the figure to quote.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop

from tests.processes import start_valkey
from tools.guards.redis import RedisLink, connect

EVENT = "x" * 800
SCRIPT = "return {redis.call('INCR', KEYS[1]), ARGV[1]}"
ROUNDS, EXCHANGES = 5, 1000


async def measure(exchange: Callable[[], Awaitable[None]]) -> float:
    """Microseconds per exchange."""
    began = time.perf_counter()
    for _ in range(EXCHANGES):
        await exchange()
    return (time.perf_counter() - began) / EXCHANGES * 1e6


async def compare(url: str) -> None:
    link, client = RedisLink(url), connect(url)

    async def ours() -> None:
        event = link.submit("XADD", "cp:bench", "*", "e", EVENT)
        await link.script(SCRIPT, ["cp:n"], 1)
        await event

    async def theirs() -> None:
        pipeline = client.pipeline(transaction=False)
        pipeline.execute_command("XADD", "cp:bench", "*", "e", EVENT)
        pipeline.execute_command("EVAL", SCRIPT, 1, "cp:n", 1)
        await pipeline.execute(raise_on_error=False)

    await ours()
    await theirs()
    pairs = [(await measure(ours), await measure(theirs)) for _ in range(ROUNDS)]
    link_us, pipeline_us = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    print(f"link {link_us:.0f} us, redis-py pipeline {pipeline_us:.0f} us: {ratio:.1f}x")
    await link.close()
    await client.aclose()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        valkey = start_valkey(Path(folder), Path(folder) / "redis.sock")
        try:
            uvloop.run(compare(f"unix://{folder}/redis.sock"))
        finally:
            valkey.terminate()
            valkey.wait(10)


if __name__ == "__main__":
    main()
