"""What one POST to an upstream costs with our own HTTP/1.1 exchanges, and with aiohttp.

Run with `python -m bench.http_client`. Both ask the raw asyncio server of the gateway bench, eight at a
time on kept connections, in turns within one run. Figures are processor time of this process per POST.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp
import uvloop
from yarl import URL

from bench.gateway_load import SAID, Door, request
from bench.gateway_parts import stage
from bench.gateway_upstream import MODERN
from tools.backends.upstream.transports.http1 import Http1, written

CLIENTS: Final = 8
CALLS: Final = 500
ROUNDS: Final = 5

Post = Callable[[], Awaitable[bytes]]


def prepared(port: int) -> tuple[dict[str, str], bytes]:
    """Headers and body of a call, as the gateway would send them."""
    raw = request(Door(port), MODERN, "tools/call", name="echo", arguments={"text": SAID})
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
    left_out = ("Host", "Content-Length")
    return {name: value for name, _, value in lines if name not in left_out}, body


async def cost(post: Post) -> float:
    """Microseconds of processor time per POST."""

    async def many() -> None:
        for _ in range(CALLS):
            assert SAID.encode() in await post()

    began = time.process_time()
    await asyncio.gather(*(many() for _ in range(CLIENTS)))
    return (time.process_time() - began) / (CLIENTS * CALLS) * 1e6


async def compare(port: int) -> None:
    url = URL(f"http://127.0.0.1:{port}/mcp")
    headers, body = prepared(port)

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> asyncio.BaseProtocol:
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(protocol, "127.0.0.1", port))[1]

    own = Http1(connect, url)
    jar, limits = aiohttp.DummyCookieJar(), aiohttp.ClientTimeout(total=None, connect=5)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=limits) as session:

        async def with_aiohttp() -> bytes:
            async with session.post(url, data=body, headers=headers) as answer:
                return await answer.read()

        async def with_own() -> bytes:
            return await (await own.request("POST", written(headers), body)).read()

        ways: dict[str, Post] = {"aiohttp": with_aiohttp, "own": with_own}
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, post in ways.items():
                taken[name].append(await cost(post))
    own.close()
    medians = {name: statistics.median(rounds) for name, rounds in taken.items()}
    for name, median in medians.items():
        sys.stdout.write(f"{name:8} {median:6.1f} us of processor per POST\n")
    sys.stdout.write(f"own beside aiohttp: {medians['own'] / medians['aiohttp']:.2f}x\n")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as name, stage(Path(name)) as theatre:
        uvloop.run(compare(theatre.upstream().port))


if __name__ == "__main__":
    main()
