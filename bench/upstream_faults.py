"""What callers get when an upstream MCP server fails, as a table with measured figures.

    python -m bench.upstream_faults [--restarts 100]

One web process of the product with keys, validation, breakers and the request log on. Each fault has a
server of its own, over Streamable HTTP and over stdio, so that no breaker remembers another fault. A
fault is repaired after its first error; recovery is the time from there to the end of the first good
call, asked for every 50 ms. A call is lost that got no answer or has no row in the request log.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.fault_kinds import FAULTS, Fault, Result, Subject
from bench.faults_stage import LOOPBACK, Plane, plane
from tests.mcp_upstream import HttpUpstream, Record, stdio_entry

TRANSPORTS = ("http", "stdio")
HEAD = (
    *("Fault", "Transport", "Tool", "Answer", "Time to it", "Afterwards", "Time to recovery"),
    *("Times executed", "Calls", "Lost", "Children left"),
)


def servers(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Record]]:
    """A server for each fault and transport: its row, its command, and the hand on it."""
    rows, commands, hands = [], {}, {}
    for fault in FAULTS:
        for transport in fault.transports or TRANSPORTS:
            slug = f"{fault.slug}-{transport}"
            home = folder / slug
            home.mkdir()
            row: dict[str, Any] = {"slug": slug, "prefix": f"{slug.replace('-', '_')}_"}
            row["unavailable_message"] = f"The server of {slug} is away. Please try again later."
            if transport == "stdio":
                commands[slug] = stdio_entry(home)
                hands[slug] = Record(home)
                rows.append({**row, "transport": "stdio", "command": slug})
            else:
                upstream = hands[slug] = HttpUpstream(home)
                rows.append({**row, "url": upstream.url, "allowed_networks": LOOPBACK})
    return rows, commands, hands


def measure(served: Plane, fault: Fault, transport: str, hand: Record, rounds: int) -> Result:
    """One row of the table."""
    subject = Subject(served, hand, f"{fault.slug}_{transport}_", rounds)
    try:
        served.count()
        subject.bring_back()
        subject.begin()
        result = fault.run(subject)
    finally:
        hand.set(hang="", delay_ms=0, garbage=False, refuse=0, crash_calls=0)
        if isinstance(hand, HttpUpstream):
            hand.kill()
    calls, lost = served.count()
    result.calls, result.lost = calls, lost
    return result


def table(rows: list[tuple[Fault, str, Result, int]]) -> str:
    """The results as Markdown."""
    lines = [HEAD, tuple("---" for _ in HEAD)]
    for fault, transport, result, left in rows:
        lines.append(
            (
                *(fault.title, transport, result.tool, result.answer, f"{result.seconds:.2f} s"),
                *(result.afterwards, result.recovery, result.executed),
                *(str(result.calls), str(result.lost), str(left)),
            )
        )
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=100, help="in a row")
    parser.add_argument("--only", default="", help="the faults whose slug has this in it")
    options = parser.parse_args()
    rows: list[tuple[Fault, str, Result]] = []
    with tempfile.TemporaryDirectory(prefix="cp-faults-") as name, ExitStack() as stack:
        folder = Path(name)
        wanted, commands, hands = servers(folder)
        served = stack.enter_context(plane(folder, wanted, json.loads(json.dumps(commands))))
        for fault in FAULTS:
            for transport in fault.transports or TRANSPORTS:
                if options.only in fault.slug:
                    hand = hands[f"{fault.slug}-{transport}"]
                    result = measure(served, fault, transport, hand, options.restarts)
                    rows.append((fault, transport, result))
                    print(f"{fault.title}, {transport}: {result}", flush=True)
        stack.close()
        ended = [(*row, len(hands[f"{row[0].slug}-{row[1]}"].alive())) for row in rows]
        print(f"\n{table(ended)}")


if __name__ == "__main__":
    main()
