"""What a call of an upstream's tool costs through the product, through a bare proxy, and direct.

Run with `python -m bench.gateway`. The upstream is a raw asyncio server (`bench/gateway_upstream.py`), the
proxy Starlette and aiohttp without a product (`bench/gateway_proxy.py`). All three ways are loaded in turns
within one run. Product and proxy stand on one core each time, clients, upstream and Redis on the others. Clients
and upstream speak the same era. API keys, validation, breaker, journal and log are on.

`--calls 100000` makes so many calls in addition and watches the memory of the web process, `--profile` says
where its time goes; both leave out the comparison.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import uvloop

from bench.gateway_load import SAID, Visitor, asleep_together, load
from bench.gateway_parts import Part, Stage, stage
from bench.gateway_profile import print_profile
from bench.gateway_upstream import HANDSHAKE, MODERN
from tests.processes import wait_until

ERAS: Final = (MODERN, HANDSHAKE)
CLIENTS: Final = (1, 8, 32)
# Processor time per call in milliseconds that was promised, by era.
TARGETS: Final = {MODERN: 0.8, HANDSHAKE: 1.2}


@dataclass(frozen=True, slots=True)
class Line:
    """What one way came to, with one number of clients in one era. Medians of all rounds."""

    era: str
    clients: int
    way: str
    rps: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float

    def text(self) -> str:
        return (
            f"{self.era}  {self.clients:>2} clients  {self.way:8} {self.rps:>7.0f} RPS"
            f"  p50 {self.p50_ms:>6.2f} ms  p95 {self.p95_ms:>6.2f} ms  {self.cpu_ms:>6.3f} ms of processor"
        )


async def measured(
    parts: Sequence[Part], era: str, clients: int, options: argparse.Namespace
) -> list[Line]:
    """One line for each way, from rounds in which all had their turn."""
    taken: dict[str, list[tuple[float, float, float, float]]] = {part.name: [] for part in parts}
    for part in parts:
        await load(part.door(era), era, clients, seconds=0.5)
    for _ in range(options.rounds):
        for part in parts:
            before = part.cpu_seconds()
            figures = await load(part.door(era), era, clients, seconds=options.seconds)
            assert not figures.errors, f"{figures.errors} wrong answers of {part.name}"
            cpu = (part.cpu_seconds() - before) / figures.requests * 1000
            taken[part.name].append((figures.rps, figures.p50_ms, figures.p95_ms, cpu))
    return [
        Line(
            era, clients, way, *(statistics.median(column) for column in zip(*rounds, strict=True))
        )
        for way, rounds in taken.items()
    ]


async def compare(parts: Sequence[Part], options: argparse.Namespace) -> list[Line]:
    """All eras, all numbers of clients, all ways."""
    lines: list[Line] = []
    for era in ERAS:
        for clients in CLIENTS:
            found = await measured(parts, era, clients, options)
            lines += found
            for line in found:
                say(line.text())
            by_way = {line.way: line for line in found}
            if {"proxy", "product"} <= by_way.keys():
                say(_beside(by_way["product"], by_way["proxy"]))
    return lines


def _beside(product: Line, proxy: Line) -> str:
    target = TARGETS[product.era]
    verdict = "met" if product.cpu_ms <= target else "MISSED"
    return (
        f"            product beside proxy: {product.rps / proxy.rps:.2f}x of its RPS,"
        f" {product.cpu_ms / proxy.cpu_ms:.2f}x of its processor time; target {target} ms {verdict}"
    )


async def sleepers(parts: Sequence[Part], rounds: int) -> None:
    """32 calls of 300 ms at once."""
    for era in ERAS:
        for part in parts:
            runs = [await asleep_together(part.door(era), era, 32, 300) for _ in range(rounds)]
            say(f"{era}  32 x sleep(300 ms) at once  {part.name:8} {statistics.median(runs):.3f} s")


async def memory(product: Part, calls: int) -> None:
    """Resident memory over so many calls, looked at ten times after a warm-up of a tenth."""
    await load(product.door(MODERN), MODERN, 8, calls=calls // 10)
    start = product.resident()
    say(f"memory after {calls // 10} calls to warm up: {start:.1f} MiB")
    for tenth in range(1, 11):
        figures = await load(product.door(MODERN), MODERN, 8, calls=calls // 10)
        assert not figures.errors, f"{figures.errors} wrong answers"
        now = product.resident()
        say(f"  {tenth * calls // 10:>8} calls  {now:.1f} MiB  {now - start:+.1f}")


async def profile(product: Part, folder: Path, options: argparse.Namespace) -> None:
    """Where the time of the web process goes."""
    for era in ERAS:
        await load(product.door(era), era, 8, seconds=1)
    product.process.send_signal(signal.SIGUSR1)
    before = product.cpu_seconds()
    era = HANDSHAKE if options.handshake else MODERN
    figures = await load(product.door(era), era, 8, seconds=options.seconds * 5)
    spent = (product.cpu_seconds() - before) / figures.requests * 1000
    product.process.terminate()
    wait_until((folder / "profile.json").exists, what="a profile")
    say(f"{era}: {figures.requests} calls of 8 clients, {spent:.3f} ms of processor each")
    print_profile(folder / "profile.json", figures.requests)


async def checked(parts: Sequence[Part]) -> None:
    """Wait until every way answers as it should."""
    for era in ERAS:
        for part in parts:
            for _ in range(100):
                visitor = await Visitor(part.door(era), era).connect()
                answer = await visitor.call("echo", text=SAID)
                visitor.close()
                if SAID in json.dumps(answer.get("result", "")):
                    break
                await asyncio.sleep(0.1)
            else:
                raise SystemExit(f"{part.name}, {era}: {answer}")


async def run(theatre: Stage, options: argparse.Namespace) -> None:
    upstream = theatre.upstream()
    ways = {"direct": lambda: upstream, "proxy": lambda: theatre.proxy(upstream)}
    folder = theatre.folder
    profiling = folder / "profile.json" if options.profile else None
    ways["product"] = lambda: theatre.product(upstream, profiling)
    parts = [ways[name]() for name in options.ways.split(",")]
    await checked(parts)
    if options.profile:
        await profile(parts[-1], folder, options)
    elif options.calls:
        await memory(parts[-1], options.calls)
    else:
        lines = await compare(parts, options)
        await sleepers(parts, options.rounds)
        if options.json:
            Path(options.json).write_text(json.dumps([asdict(line) for line in lines], indent=1))


def say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ways", default="direct,proxy,product", help="the product comes last")
    parser.add_argument("--calls", type=int, default=0, help="watch memory over so many calls")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    parser.add_argument("--handshake", action="store_true", help="profile that era")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as name, stage(Path(name)) as theatre:
        uvloop.run(run(theatre, options))


if __name__ == "__main__":
    main()
