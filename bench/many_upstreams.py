"""20 upstream MCP servers of which 5 hang, beside the same 20 of which none does, in one run.

    python -m bench.many_upstreams [--rounds 6] [--calls 200]

One web process of the product with keys, validation, breakers and the request log on. Rounds in which
five servers answer and rounds in which they hang take turns. In every round ten clients have calls of 5 s
under way at those five all the time, so that the only difference is whether they are answered; meanwhile
the list of tools and calls of the other 15 servers are timed, one after the other.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from bench.faults_stage import LOOPBACK, Plane, plane
from bench.gateway_parts import stop
from bench.load import rank
from tests.doors import free_port
from tests.mcp_upstream import HttpUpstream

WELL: Final = 15
SHAKY: Final = 5
CLIENTS_EACH: Final = 2
CALL_SECONDS: Final = 4.9
KINDS: Final = ("tools/list", "tools/call")


def rows(port: int, shaky: list[HttpUpstream]) -> list[dict[str, Any]]:
    """The rows of all servers. Breakers of those that hang stay closed, which is the worst case."""
    light = [
        {
            "slug": f"well-{number}",
            "prefix": f"well_{number}_",
            "url": f"http://127.0.0.1:{port}/mcp?server={number}",
            "allowed_networks": LOOPBACK,
            "light": True,
        }
        for number in range(WELL)
    ]
    return light + [
        {
            "slug": f"shaky-{number}",
            "prefix": f"shaky_{number}_",
            "url": upstream.url,
            "allowed_networks": LOOPBACK,
            "failure_threshold": 100,
        }
        for number, upstream in enumerate(shaky)
    ]


@contextmanager
def calls_under_way(served: Plane) -> Iterator[None]:
    """Clients who call the shaky servers again and again, whatever they are told."""
    over = threading.Event()

    def work(number: int) -> None:
        while not over.is_set():
            if not served.call(f"shaky_{number}_sleep", ms=int(CALL_SECONDS * 1000)).good:
                over.wait(0.2)

    threads = [
        threading.Thread(target=work, args=(number,))
        for number in range(SHAKY)
        for _ in range(CLIENTS_EACH)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(30)


def timed(served: Plane, calls: int) -> dict[str, list[float]]:
    """Seconds of lists and of calls that do not concern the shaky servers."""
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    numbers = cycle(range(WELL))
    for _ in range(calls):
        answer = served.call(f"well_{next(numbers)}_echo", text="hello")
        assert answer.good, answer
        found["tools/call"].append(answer.seconds)
        found["tools/list"].append(served.list_tools())
    return found


def measure(
    served: Plane, shaky: list[HttpUpstream], rounds: int, calls: int
) -> dict[bool, dict[str, list[float]]]:
    """Times by whether five servers hang, in rounds that take turns."""
    found: dict[bool, dict[str, list[float]]] = {
        hang: {kind: [] for kind in KINDS} for hang in (False, True)
    }
    timed(served, WELL)
    for number in range(rounds):
        hang = number % 2 == 1
        for upstream in shaky:
            upstream.set(hang="all" if hang else "")
        with calls_under_way(served):
            # Until calls are under way, and those that hang are known to.
            time.sleep(1)
            for kind, seconds in timed(served, calls).items():
                found[hang][kind] += seconds
        print(f"round {number + 1} of {rounds}: {'5 hang' if hang else 'none hangs'}", flush=True)
    return found


def table(found: dict[bool, dict[str, list[float]]]) -> str:
    """The times as Markdown."""
    lines = [
        "| What | p50, none hangs | p50, 5 hang | Ratio | p95, none hangs | p95, 5 hang | Ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in KINDS:
        cells = []
        for share in (0.5, 0.95):
            well, ill = (rank(sorted(found[hang][kind]), share) for hang in (False, True))
            cells += [f"{well:.2f} ms", f"{ill:.2f} ms", f"{ill / well:.2f}"]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--calls", type=int, default=200, help="in each round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cp-many-") as name, ExitStack() as stack:
        folder = Path(name)
        port = free_port()
        command = [sys.executable, "-m", "bench.gateway_upstream", str(port)]
        stack.callback(stop, subprocess.Popen(command))
        shaky = []
        for number in range(SHAKY):
            home = folder / f"shaky-{number}"
            home.mkdir()
            shaky.append(HttpUpstream(home).start())
            stack.callback(shaky[-1].kill)
        served = stack.enter_context(plane(folder, rows(port, shaky)))
        found = measure(served, shaky, options.rounds, options.calls)
        calls, lost = served.count()
        print(f"\n{table(found)}\n\n{calls} calls, {lost} lost")


if __name__ == "__main__":
    main()
