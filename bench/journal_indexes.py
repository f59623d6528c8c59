"""What each index of the request log costs whoever writes it.

    python -m bench.journal_indexes [--folder FOLDER] [--rows 100000]
    python -m tests.run_on_postgres python -m bench.journal_indexes

Batches of made-up calls are written to a filled log with all indexes, then without one of them, in turns; each
time it is undone. The fastest batch of each is told: it was disturbed least.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bench.admin_log import prepare
from bench.seeding import seed_journal

CALLS: Final = 1_000
ROUNDS: Final = 7
RARE: Final = ("journal_failures", "journal_slow", "journal_correlated", "journal_by_thread")
TRIED: Final = ((), ("journal_by_tool",), *((name,) for name in RARE), RARE)


class _Undone(Exception):
    pass


def microseconds(dropped: Sequence[str], events: Sequence[dict[str, Any]]) -> float:
    """Per call, with these indexes gone for as long as it takes."""
    from django.db import connection, transaction

    from tools.models import ToolRequest

    taken = 0.0
    with suppress(_Undone), transaction.atomic():
        with connection.cursor() as cursor:
            for name in dropped:
                cursor.execute(f"DROP INDEX {name}")
        began = time.perf_counter()
        ToolRequest.objects.apply(events)
        taken = time.perf_counter() - began
        raise _Undone
    return taken / len(events) * 1e6


def made(count: int) -> list[dict[str, Any]]:
    """Closing events; a third has a correlation and a thread, as the seeded calls have."""
    from bench.figures_calls import Synthetic

    events = [one.events[-1] for one in Synthetic().calls(count * 2)]
    closed = [event for event in events if event["kind"] == "close"][:count]
    for place, event in enumerate(closed):
        if place % 3 == 0:
            event.update(correlation_id=f"trace-{place // 9}", thread_id=f"thread-{place // 30}")
    return closed


def run(rows: int, folder: Path) -> None:
    prepare(folder)
    from django.db import connection

    from tools.models import ToolRequest

    if not ToolRequest.objects.exists():
        seed_journal(rows)
    events = made(CALLS)
    fastest = dict.fromkeys(TRIED, float("inf"))
    for _ in range(ROUNDS):
        for dropped in TRIED:
            fastest[dropped] = min(fastest[dropped], microseconds(dropped, events))
    print(f"\nWriting a call on {connection.vendor}, {ToolRequest.objects.count():,} are there:")
    for dropped, taken in fastest.items():
        name = f"without {', '.join(dropped)}" if dropped else "with all indexes"
        print(f"  {name:90}{taken:8.1f} µs{fastest[()] - taken:+8.1f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.folder is not None:
        run(chosen.rows, chosen.folder)
        return 0
    with tempfile.TemporaryDirectory(prefix="cp-indexes-") as folder:
        run(chosen.rows, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
