"""`GET /tools` with 500 tools and `POST /call-tool` of a built-in, beside bare DRF views.

Two kinds of them, in the same process (`bench/views.py`): plain ones as Django serves them, and lean
ones served like the product's own.

Run with `make bench` or `python -m bench.rest`. Everything is measured in one run, in
turns, so that a noisy machine hurts both alike; the ratio is the figure to quote.
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
from pathlib import Path
from typing import Any

from bench.load import Figures, Request, fetch, run

TOOLS = 500
CALL = Request("POST", "/call-tool", json.dumps({"tool": "rag_metrics", "arguments": {}}).encode())
BARE = {kind: Request("POST", f"/{kind}/call-tool", CALL.body) for kind in ("plain", "lean")}
LISTS = {kind: Request("GET", f"/{kind}/tools") for kind in ("plain", "lean")}
MEASURED = {
    "GET /tools (500 tools)": (Request("GET", "/tools"), LISTS),
    "POST /call-tool rag_metrics": (CALL, BARE),
}


def prepare() -> None:
    """Fill the catalogue: the built-ins and 500 tools in all."""
    import django

    django.setup()
    from django.core.management import call_command

    from tools.models import ServiceConfiguration, Tool

    call_command("migrate", verbosity=0)
    call_command("seed_demo", verbosity=0)
    ServiceConfiguration.objects.update(security_rate_limit=100_000_000)
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 8000},
            "top_k": {"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
        },
        "required": ["query"],
    }
    missing = TOOLS - Tool.objects.count()
    Tool.objects.bulk_create(
        Tool(
            name=f"bench_tool_{number}",
            description=f"Tool number {number} of the benchmark, never called.",
            input_schema=schema,
            source="builtin",
            handler="server_metrics",
        )
        for number in range(missing)
    )


async def measure(port: int, seconds: float, rounds: int) -> list[dict[str, Any]]:
    await _wait(port)
    tools = json.loads((await fetch(port, Request("GET", "/tools")))[1])
    call = json.loads((await fetch(port, CALL))[1])
    assert len(tools["tools"]) == TOOLS, len(tools["tools"])
    assert call["success"], call
    remember = json.dumps({"tools": tools, "call": call}).encode()
    await fetch(port, Request("POST", "/lean/remember", remember))
    lines = []
    for name, (real, bare) in MEASURED.items():
        for connections in (1, 8, 32):
            requests = {"real": real, **bare}
            await run(port, real, connections, 0.5)
            figures: dict[str, list[Figures]] = {kind: [] for kind in requests}
            for _ in range(rounds):
                for kind, request in requests.items():
                    figures[kind].append(await run(port, request, connections, seconds))
            lines.append(_line(name, connections, figures))
            print(_text(lines[-1]), flush=True)
    return lines


def _line(name: str, connections: int, figures: dict[str, list[Figures]]) -> dict[str, Any]:
    measured = [one for runs in figures.values() for one in runs]
    assert not any(one.errors for one in measured), "answers other than 200"
    line: dict[str, Any] = {"what": name, "connections": connections}
    for kind, runs in figures.items():
        line[f"{kind}_rps"] = round(statistics.median(one.rps for one in runs))
        line[f"{kind}_p95"] = round(statistics.median(one.p95_ms for one in runs), 2)
        pairs = zip(runs, figures["real"], strict=True)
        line[f"{kind}_cost"] = round(
            statistics.median(one.rps / real.rps for one, real in pairs), 2
        )
    return line


def _text(line: dict[str, Any]) -> str:
    return (
        f"{line['what']:28} {line['connections']:>2} conn  "
        f"{line['real_rps']:>5} RPS p95 {line['real_p95']:>6} ms | "
        f"plain DRF view {line['plain_rps']:>5} RPS p95 {line['plain_p95']:>6} ms, "
        f"cost {line['plain_cost']}x | "
        f"lean view {line['lean_rps']:>5} RPS p95 {line['lean_p95']:>6} ms, "
        f"cost {line['lean_cost']}x"
    )


async def _wait(port: int) -> None:
    for _ in range(200):
        try:
            status, _ = await fetch(port, Request("GET", "/tools"))
        except (OSError, asyncio.IncompleteReadError):
            status = 0
        if status == 200:
            return
        await asyncio.sleep(0.05)
    raise SystemExit("the web process did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare()
        return
    from tests.doors import free_port
    from tests.processes import start_valkey

    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        port = free_port()
        environment = {
            **os.environ,
            "VAR_DIR": folder,
            "BENCH_PORT": str(port),
            "DJANGO_SETTINGS_MODULE": "bench.settings",
        }
        valkey = start_valkey(Path(folder) / "redis", Path(folder) / "run" / "redis.sock")
        subprocess.run(
            [sys.executable, "-m", "bench.rest", "--prepare"], env=environment, check=True
        )
        with (Path(folder) / "web.log").open("w") as log:
            web = subprocess.Popen([sys.executable, "-m", "bench.app"], env=environment, stderr=log)
        try:
            lines = asyncio.run(measure(port, options.seconds, options.rounds))
        finally:
            web.terminate()
            web.wait(10)
            valkey.terminate()
            valkey.wait(10)
    for kind in ("plain", "lean"):
        worst = max(line[f"{kind}_cost"] for line in lines)
        print(f"worst cost beside the {kind} view: {worst}x")


if __name__ == "__main__":
    main()
