"""Figures checked against the journal: synthetic calls, two writers, one of them killed.

    python -m bench.figures [--calls 100000]
    python -m tests.run_on_postgres python -m bench.figures

Events go through a real stream to two processes that write the journal and add figures up at the same
time. Some events come twice, some calls are never closed. In the middle one process is killed with -9,
and another takes its place. Then every count must equal the journal's, and every percentile must be
within 2 % of the exact one: before figures are added up, after, and once minutes became hours.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

AT_ONCE: Final = 500
LONGEST: Final = 1200.0
POLL: Final = 0.1


def prepare(folder: Path) -> None:
    """Settings of their own for this process and those it starts, and an empty database."""
    os.environ.update(DJANGO_SETTINGS_MODULE="bench.settings", VAR_DIR=str(folder))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def make_tools() -> None:
    """Rows of the tools that are called: tools that are gone lose their name in the totals."""
    from bench.figures_calls import TOOLS
    from tests.factories import make_tool

    for name, source, *_ in TOOLS:
        if source:
            make_tool(name=name, source=source)


def send(count: int) -> int:
    """Hand the events of `count` calls to the journal; how many there were."""
    import orjson
    import redis
    from django.conf import settings

    from bench.figures_calls import Synthetic
    from tools.guards.redis import JOURNAL_STREAM

    sent = 0
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        pipeline = client.pipeline(transaction=False)
        for made in Synthetic().calls(count):
            for event in made.events:
                pipeline.xadd(JOURNAL_STREAM, {"e": orjson.dumps(event)})
            sent += len(made.events)
            if len(pipeline) >= AT_ONCE:
                pipeline.execute()
        pipeline.execute()
    return sent


@contextmanager
def writers(folder: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [start_writer(folder) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def start_writer(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "bench.figures_writer", str(folder / "spool")])


def wait(condition: str, reached: object, limit: float = LONGEST) -> None:
    """Until `reached` says so.

    Raises:
        SystemExit: it never did.
    """
    assert callable(reached)
    end = time.monotonic() + limit
    while not reached():
        if time.monotonic() > end:
            sys.exit(f"{condition} did not come about within {limit:.0f} s")
        time.sleep(POLL)


def written(least: int) -> bool:
    from tools.models import ToolRequest

    return ToolRequest.objects.filter(finished_at__isnull=False).count() >= least


def run(count: int, folder: Path) -> bool:
    """The whole trial; whether everything was as it must be."""
    from django.conf import settings

    from tests.processes import start_valkey
    from tools.services.fold_figures import fold_figures

    valkey = start_valkey(folder, settings.RUNTIME_PATHS.redis_socket)
    make_tools()
    began = time.monotonic()
    try:
        with writers(folder, 2) as processes:
            events = send(count)
            wait("a third of the calls", lambda: written(count // 3))
            processes[0].send_signal(signal.SIGKILL)
            processes[0].wait()
            processes.append(start_writer(folder))
            wait("every call in the journal", lambda: written(count))
    finally:
        valkey.terminate()
        valkey.wait()
    seconds = time.monotonic() - began
    print(f"{count:,} calls, {events:,} events, two writers, one killed: {seconds:.0f} s")
    now = datetime.now(UTC)
    good = report("as the writers left it", now)
    fold_figures(now)
    good &= report("added up", now)
    fold_figures(now + timedelta(days=3))
    return report("minutes added up to hours", now) and good


def report(title: str, now: datetime) -> bool:
    from bench.figures_check import compared, stretch
    from tools.models import CallFigures
    from tools.selectors.figures import By, call_figures

    began = time.perf_counter()
    call_figures(*stretch(now), by=By.TOOL)
    took = (time.perf_counter() - began) * 1000
    findings = compared(*stretch(now))
    lines = [f"\n{title}: {CallFigures.objects.count():,} rows of figures, read in {took:.0f} ms"]
    lines.append(f"  {'':28}{'journal':>16}{'figures':>16}  off by")
    for one in findings:
        off = "" if one.deviation is None else f"{one.deviation:.2%}"
        verdict = "" if one.holds else "  WRONG"
        lines.append(f"  {one.what:28}{one.journal:>16}{one.figures:>16}  {off}{verdict}")
    print("\n".join(lines), flush=True)
    return all(one.holds for one in findings)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--calls", type=int, default=100_000)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="cp-figures-") as folder:
        prepare(Path(folder))
        return 0 if run(chosen.calls, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
