"""Queries of every pipeline on the demo corpus, through REST and MCP, with concurrent clients.

Run with `python -m bench.rag`: it starts a control plane of its own, waits until the demo corpus is
indexed, and prints the latencies that clients saw, waiting for a slot included. `--port` measures
one that runs already; its rate limit (SECURITY__RATE_LIMIT) must be high enough. The
targets are p95 below 100 ms for basic and below 300 ms for the others, with eight clients.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import django

from bench.load import Connection, Figures, Request, fetch, rank
from bench.mcp import MODERN, request

PREFIX = "rag_"
NOT_PIPELINES = ("rag_health_check", "rag_metrics")
TARGETS_MS = {"rag_basic": 100.0}
OTHER_TARGET_MS = 300.0
READY_SECONDS = 600.0
# Two of them make a question: thousands of different ones, so that no vector is found in a cache.
THINGS = (
    *("rate limits", "API keys", "index versions", "worker processes", "circuit breakers"),
    *("health checks", "token budgets", "tool groups", "request logs", "upload limits"),
    *("web searches", "OAuth tokens", "entity graphs", "search results", "passages"),
    *("time limits", "retries", "cancelled calls", "progress messages", "prompts"),
    *("resources", "WebSocket clients", "old sessions", "proxies", "certificates"),
    *("backups", "migrations", "memory limits", "citations", "evaluations"),
    *("communities", "embedding models", "duplicates", "corpora", "PDF files"),
    *("supervised programs", "restarts", "secrets", "operators", "error messages"),
)
FRAMES = (
    "How do {} depend on {}?",
    "What happens to {} when {} fail?",
    "Where are {} kept apart from {}?",
    "Who decides about {} and {}?",
)


def rest(tool: str, question: str) -> Request:
    body = {"tool": tool, "arguments": {"query": question}}
    return Request("POST", "/call-tool", json.dumps(body).encode())


def mcp(tool: str, question: str) -> Request:
    return request("tools/call", MODERN, name=tool, arguments={"query": question})


DOORS = {"rest": rest, "mcp": mcp}


def questions() -> Iterator[str]:
    """Different ones, thousands before any comes again."""
    pairs = list(itertools.permutations(THINGS, 2))
    for frame in itertools.cycle(FRAMES):
        for one, other in pairs:
            yield frame.format(one, other)


async def load(port: int, asked: Iterator[Request], clients: int, seconds: float) -> Figures:
    """What `clients` clients see that ask one question after the other."""
    host = f"127.0.0.1:{port}"
    latencies: list[float] = []
    errors = 0
    start = time.perf_counter()

    async def work() -> None:
        nonlocal errors
        connection = Connection(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 24))
        while (began := time.perf_counter()) < start + seconds:
            status, body = await connection.exchange(next(asked).encode(host))
            latencies.append(time.perf_counter() - began)
            errors += status != 200 or b'"isError":true' in body
        connection.close()

    await asyncio.gather(*(work() for _ in range(clients)))
    elapsed = time.perf_counter() - start
    latencies.sort()
    return Figures(len(latencies), errors, elapsed, rank(latencies, 0.50), rank(latencies, 0.95))


async def pipelines(port: int) -> list[str]:
    """The tools of pipelines, once all of them answer."""
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        try:
            status, body = await fetch(port, Request("GET", "/tools"))
            listed: list[dict[str, Any]] = json.loads(body)["tools"] if status == 200 else []
            names = [tool["name"] for tool in listed if tool["name"].startswith(PREFIX)]
            names = [name for name in names if name not in NOT_PIPELINES]
            asked = [(await fetch(port, rest(name, "Is it ready?")))[0] for name in names]
        except (OSError, asyncio.IncompleteReadError):
            asked = []
        if asked and set(asked) == {200}:
            return names
        await asyncio.sleep(1)
    raise SystemExit("not every pipeline answers; is the demo corpus indexed?")


async def measure(port: int, clients: int, seconds: float) -> list[str]:
    """Print the figures of every pipeline; those that missed their target."""
    missed: list[str] = []
    asked = questions()
    for tool in await pipelines(port):
        target = TARGETS_MS.get(tool, OTHER_TARGET_MS)
        for door, encode in DOORS.items():
            requests = map(partial(encode, tool), asked)
            await load(port, requests, clients, 1.0)
            figures = await load(port, requests, clients, seconds)
            print(
                f"{tool:26} {door:4} {clients} clients  {figures.rps:6.1f} queries/s  "
                f"p50 {figures.p50_ms:6.1f} ms  p95 {figures.p95_ms:6.1f} ms  "
                f"(target {target:.0f} ms)  errors {figures.errors}",
                flush=True,
            )
            if figures.errors or figures.p95_ms >= target:
                missed.append(f"{tool} over {door}")
    return missed


@contextmanager
def control_plane() -> Iterator[int]:
    """A control plane with the demo corpus, in a folder of its own; its port."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from tests.controlplane.stack import stack

    environment = {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "SECURITY__RATE_LIMIT": "100000000",
    }
    with stack(**environment) as made:
        made.up(corpus=True)
        yield made.port


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, help="measure the control plane on this port")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args(arguments)
    if options.port:
        missed = asyncio.run(measure(options.port, options.clients, options.seconds))
    else:
        with control_plane() as port:
            missed = asyncio.run(measure(port, options.clients, options.seconds))
    print(f"missed: {', '.join(missed)}" if missed else "all targets met")


if __name__ == "__main__":
    main()
