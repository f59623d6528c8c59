"""tools/call of a built-in and tools/list at 5, 100 and 500 tools, beside a bare SDK server.

Run with `python -m bench.mcp`. One web process each, loaded in turns within one run, so that a
noisy machine hurts both alike. Beside calls per second the processor time of each web process is
taken, which other work on the machine hardly disturbs; its ratio is the figure to quote. The bare
server (`bench/bare_mcp.py`) gives the same answers without a product behind them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import Figures, Request, fetch, run

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
SIZES = (5, 100, 500)
CALLED = "rag_metrics"


def request(
    method: str, version: str, path: str = "/mcp", *, unusual: bool = False, **params: Any
) -> Request:
    """One message of either era. An unusual one is served through the SDK by the product too."""
    headers = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", version),
    ]
    if version == MODERN:
        headers.append(("Mcp-Method", method))
        if "name" in params:
            headers.append(("Mcp-Name", params["name"]))
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    if unusual:
        params["_meta"] = {**params.get("_meta", {}), "example.org/unusual": True}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Request("POST", path, json.dumps(body).encode(), tuple(headers))


def prepare() -> None:
    """Fill the catalogue: the built-ins, 500 tools in all, and a toolset per size."""
    from bench.rest import prepare as fill

    fill()
    from tools.models import Tool, Toolset

    # One of the 500 is never listed.
    Tool.objects.create(
        name="bench_tool_more",
        description="The last tool of the benchmark, never called.",
        input_schema={"type": "object", "properties": {}},
        source="builtin",
        handler="server_metrics",
    )
    for size in SIZES:
        toolset = Toolset(slug=f"of-{size}")
        toolset.save()
        toolset.tools.set(Tool.objects.exclude(handler="call_tool").order_by("name")[:size])


async def _answers(port: int) -> dict[str, Any]:
    """What the product answers, for the bare server to repeat."""
    _, listed = await fetch(port, request("tools/list", MODERN))
    _, called = await fetch(port, request("tools/call", MODERN, name=CALLED, arguments={}))
    return {
        "tools": json.loads(listed)["result"]["tools"],
        "call": json.loads(called)["result"]["structuredContent"],
    }


@dataclass(frozen=True, slots=True)
class Server:
    """A web process under load."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """Processor time it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def loaded(self, asked: Request, connections: int, seconds: float) -> tuple[float, float]:
        """Calls per second, and processor time per call in microseconds."""
        before = self.cpu_seconds()
        figures: Figures = await run(self.port, asked, connections, seconds)
        assert not figures.errors, "answers other than 200"
        return figures.rps, (self.cpu_seconds() - before) / figures.requests * 1e6


async def compare(
    what: str, servers: dict[str, Server], asked: Request, options: argparse.Namespace
) -> None:
    """Print what one request costs on both, at 1, 8 and 32 connections."""
    for connections in (1, 8, 32):
        rps: dict[str, list[float]] = {kind: [] for kind in servers}
        cpu: dict[str, list[float]] = {kind: [] for kind in servers}
        for server in servers.values():
            await run(server.port, asked, connections, 0.5)
        for _ in range(options.rounds):
            for kind, server in servers.items():
                calls, spent = await server.loaded(asked, connections, options.seconds)
                rps[kind].append(calls)
                cpu[kind].append(spent)
        per_call = {kind: statistics.median(values) for kind, values in cpu.items()}
        speed = {kind: statistics.median(values) for kind, values in rps.items()}
        print(
            f"{what:34} {connections:>2} conn  "
            f"product {speed['product']:>5.0f} RPS {per_call['product']:>6.0f} us | "
            f"bare SDK {speed['bare']:>5.0f} RPS {per_call['bare']:>6.0f} us | "
            f"cost {per_call['product'] / per_call['bare']:.2f}x of processor time, "
            f"{speed['bare'] / speed['product']:.2f}x of speed",
            flush=True,
        )


async def sizes(server: Server, options: argparse.Namespace) -> None:
    """Print what tools/list costs per size of the list and per kilobyte of its answer."""
    for size in SIZES:
        asked = request("tools/list", MODERN, f"/mcp/of-{size}")
        _, body = await fetch(server.port, asked)
        assert len(json.loads(body)["result"]["tools"]) == size, body[:200]
        runs = [await server.loaded(asked, 1, options.seconds) for _ in range(options.rounds)]
        per_call = statistics.median(spent for _, spent in runs)
        print(
            f"tools/list {size:>3} tools  {per_call:>7.0f} us of processor time  "
            f"{len(body) / 1024:>6.1f} KiB",
            flush=True,
        )


async def _wait(port: int) -> None:
    for _ in range(400):
        try:
            status, _ = await fetch(port, request("tools/list", MODERN))
        except (OSError, asyncio.IncompleteReadError):
            status = 0
        if status == 200:
            return
        await asyncio.sleep(0.05)
    raise SystemExit("a web process did not start")


async def measure(folder: Path, environment: dict[str, str], options: argparse.Namespace) -> None:
    from tests.doors import free_port

    answers = folder / "answers.json"
    started: list[subprocess.Popen[bytes]] = []

    async def start(module: str) -> Server:
        port = free_port()
        values = {**environment, "BENCH_PORT": str(port), "BENCH_ANSWERS": str(answers)}
        with (folder / f"{module}.log").open("w") as log:
            started.append(subprocess.Popen([sys.executable, "-m", module], env=values, stderr=log))
        await _wait(port)
        return Server(port, started[-1].pid)

    try:
        servers = {"product": await start("bench.app")}
        answers.write_text(json.dumps(await _answers(servers["product"].port)))
        servers["bare"] = await start("bench.bare_mcp")
        for version in (MODERN, HANDSHAKE):
            asked = request("tools/call", version, name=CALLED, arguments={})
            await compare(f"tools/call {version}", servers, asked, options)
            asked = request("tools/call", version, unusual=True, name=CALLED, arguments={})
            await compare(f"tools/call {version} by the SDK", servers, asked, options)
        await compare("tools/list 500 tools", servers, request("tools/list", MODERN), options)
        await sizes(servers["product"], options)
    finally:
        for process in started:
            process.terminate()
            process.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare()
        return
    from tests.processes import start_valkey

    with tempfile.TemporaryDirectory(prefix="cp-bench-") as name:
        folder = Path(name)
        environment = {
            **os.environ,
            "VAR_DIR": name,
            "DJANGO_SETTINGS_MODULE": "bench.settings",
        }
        valkey = start_valkey(folder / "redis", folder / "run" / "redis.sock")
        try:
            subprocess.run(
                [sys.executable, "-m", "bench.mcp", "--prepare"], env=environment, check=True
            )
            asyncio.run(measure(folder, environment, options))
        finally:
            valkey.terminate()
            valkey.wait(10)


if __name__ == "__main__":
    main()
