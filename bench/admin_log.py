"""The request log in the admin at a million calls: how long its pages take, and how many queries they make.

    python -m bench.admin_log [--rows 1000000] [--folder FOLDER]
    python -m tests.run_on_postgres python -m bench.admin_log

A database of its own is filled with made-up calls of 30 days; with --folder it stays there (SQLite), and the
next run finds it filled. Each page may take 300 ms and 30 queries.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from bench.page_costs import measure, signed_in, table
from bench.seeding import Seeded, seed_journal

ROUNDS: Final = 7
# Filters of a list that a call is opened from: its neighbours are searched for among those.
STEPPED: Final = ("tool, busiest", "code, 1 in 17,000", "text that is nowhere")


def prepare(folder: Path) -> None:
    """Settings of their own for this process, and a database with all tables."""
    os.environ.update(DJANGO_SETTINGS_MODULE="bench.settings", VAR_DIR=str(folder))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, skip_checks=True)


def fill(rows: int) -> Seeded:
    """Made-up calls, unless they are there already."""
    from bench.seeding_calls import tool_name
    from tools.models import ApiClient, Tool, ToolRequest

    there = ToolRequest.objects.count()
    if there < rows:
        began = time.monotonic()
        made = seed_journal(rows - there)
        print(f"{rows - there:,} calls made in {time.monotonic() - began:.0f} s", flush=True)
        return made
    first = ToolRequest.objects.order_by("received_at")[0]
    client = ApiClient.objects.order_by("pk")[0]
    ends = ToolRequest.objects.order_by("-received_at")[0].received_at
    rarest = tool_name(Tool.objects.filter(name__startswith="tool_").count() - 1)
    return Seeded(there, first.received_at, ends, tool_name(0), rarest, f"client:{client.pk}")


def filters(made: Seeded) -> Iterator[tuple[str, dict[str, str]]]:
    """Each filter alone, and some together."""
    from bench.seeding_calls import RARE_WORD

    day = timedelta(days=1)
    middle = made.until - (made.until - made.since) / 2
    busy, rare = {"tool__exact": made.busiest}, {"tool__exact": made.rarest}
    failed = {"status__in": "failure,timeout"}
    yield "all calls", {}
    yield "tool, busiest", busy
    yield "tool, rarest", rare
    yield "tool that is not there", {"tool__exact": "no_such_tool"}
    yield "caller", {"caller__exact": made.caller}
    yield "caller by name", {"caller__exact": "Client 40"}
    yield "status success", {"status__in": "success"}
    yield "status failed or timed out", failed
    yield "code, frequent", {"code__exact": "EXECUTION_ERROR"}
    yield "code, 1 in 17,000", {"code__exact": "INTERNAL_ERROR"}
    yield "state executing", {"state__exact": "executing"}
    yield from _of_the_end(made)
    yield "transport, frequent", {"transport__exact": "rest"}
    yield "transport, 1 in 1,000", {"transport__exact": "cli"}
    yield "source", {"source": "pipeline"}
    yield "cache hit", {"cache_hit__exact": "1"}
    yield "tokens counted", {"tokens_after__isnull": "False"}
    yield "answer shortened", {"shortened": "True"}
    yield "last 15 minutes", {"within": "15m"}
    yield "one day", {"received_at__gte": middle.isoformat(), **_until(middle + day)}
    yield "took 1 s and more", {"duration_ms__gte": "1000"}
    yield "took 29 s and more", {"duration_ms__gte": "29000"}
    yield "took 500 to 501 ms", {"duration_ms__gte": "500", "duration_ms__lte": "501"}
    yield "text, frequent", {"text": "harbour"}
    yield "text, 1 in 100,000", {"text": RARE_WORD}
    yield "text that is nowhere", {"text": "nothing like it"}
    yield "text, one day", {"text": RARE_WORD, **_until(middle)}
    yield "id that is not there", {"q": "0190b5a4-0000-7000-8000-000000000000"}
    yield "part of names of tools", {"q": "tool_4"}
    yield "busiest tool that failed", {**busy, **failed}
    yield "busiest tool, rare code", {**busy, "code__exact": "INTERNAL_ERROR"}
    yield (
        "busiest tool, caller, websocket",
        {
            **busy,
            "caller__exact": made.caller,
            "transport__exact": "websocket",
        },
    )
    yield "nothing at all matches", {"transport__exact": "cli", "duration_ms__lte": "0.0001"}
    yield "busiest tool, text that is nowhere", {**busy, "text": "nothing like it"}


def _of_the_end(made: Seeded) -> Iterator[tuple[str, dict[str, str]]]:
    """Calls under way, and those that figures count."""
    ended = {"finished_at__isnull": "False"}
    yield "not ended", {"finished_at__isnull": "True"}
    yield "all that ended", ended
    yield "tool, busiest, ended", {"tool__exact": made.busiest, **ended}
    yield "caller, ended", {"caller__exact": made.caller, **ended}


def _until(moment: Any) -> dict[str, str]:
    return {"received_at__lt": moment.isoformat()}


def pages(made: Seeded) -> Iterator[tuple[str, str]]:
    """What is opened: its name and address."""
    from tools.admin.request_log import addresses
    from tools.models import ToolRequest
    from tools.selectors.request_log import Cursor

    for name, chosen in filters(made):
        yield name, f"{addresses.calls()}?{urlencode(chosen)}"
    for share in (0.1, 0.5, 0.99):
        place = Cursor(made.until - (made.until - made.since) * share)
        for word in ("before", "after"):
            query = urlencode({word: str(place)})
            yield f"{word} {share:.0%} of the time", f"{addresses.calls()}?{query}"
    deep = urlencode({"before": str(Cursor(made.since + timedelta(days=1))), "text": "nowhere"})
    yield "text, far back", f"{addresses.calls()}?{deep}"
    rows = ToolRequest.objects.order_by("-received_at")
    one = addresses.one(rows[1000].pk)
    yield "page of a call", one
    for name in STEPPED:
        kept = urlencode({"_changelist_filters": urlencode(dict(filters(made))[name])})
        yield f"page of a call among: {name}", f"{one}?{kept}"
    answers = addresses.calls().replace("toolrequest", "toolresponse")
    yield "kept answers", answers
    yield "kept answers, cut ones", f"{answers}?truncated__exact=1"
    for kind in ("csv", "jsonl"):
        yield f"export, start of {kind}", f"{addresses.calls()}export/?format={kind}"


def export_whole() -> None:
    """How long a file as long as may be takes, and how much memory it needs."""
    import resource

    from tools.admin.request_log import addresses

    client = signed_in()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, size, lines = time.perf_counter(), 0, 0
    answer = client.get(f"{addresses.calls()}export/?format=csv")
    for part in answer.streaming_content:
        size += len(part)
        lines += part.count(b"\r\n")
    answer.close()
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"\nA whole export: {lines:,} lines, {size / 1e6:.0f} MB in {seconds:.1f} s;"
        f" memory grew by {grown:.1f} MiB"
    )


def run(rows: int, folder: Path) -> bool:
    prepare(folder)
    from django.db import connection

    made = fill(rows)
    costs = list(measure(signed_in(), dict(pages(made)), ROUNDS))
    print(table(f"{made.rows:,} calls on {connection.vendor}, {ROUNDS} rounds, ms", costs))
    export_whole()
    return all(cost.holds for cost in costs)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.folder is not None:
        return 0 if run(chosen.rows, chosen.folder) else 1
    with tempfile.TemporaryDirectory(prefix="cp-log-") as folder:
        return 0 if run(chosen.rows, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
