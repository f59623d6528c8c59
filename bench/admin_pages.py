"""The admin's pages over a long request log: server time and queries of each, on both databases.

    python -m bench.admin_pages [--rows 1000000] [--tools 500] [--rounds 7] [--database both]

Fills a fresh SQLite file and a fresh PostgreSQL server with made-up calls of 30 days, their
figures and a restless history of health, then opens the dashboard over every range and the list of tools. Fails when the median
of a page is above 300 ms, or a page takes more than 30 queries.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

DATABASES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def pages(tool: str) -> Mapping[str, str]:
    """What is opened. `tool` is the name of a busy one; the request log has a trial of its own."""
    from django.urls import reverse

    from health.admin.dashboard.ranges import RANGES
    from tools.models import Tool

    tools, front = reverse("admin:tools_tool_changelist"), reverse("admin:index")
    one = Tool.objects.get(name=tool)
    return {
        **{f"dashboard, {name}": f"{front}?range={name}" for name in RANGES},
        "dashboard, what runs now": reverse("admin:health_healthsnapshot_live"),
        "dashboard, what runs now one by one": reverse("admin:health_healthsnapshot_running"),
        "dashboard, calls of 30 days alone": f"{reverse('admin:health_healthsnapshot_calls')}?range=30d",
        "dashboard, incidents alone": reverse("admin:health_healthsnapshot_incidents"),
        "tools, first page": tools,
        "tools, last page": f"{tools}?p={(Tool.objects.count() - 1) // 50 + 1}",
        "tools, filtered by source": f"{tools}?source__exact=pipeline",
        "tools, searched": f"{tools}?q=tool_1",
        **{f"tools, {word} ones": f"{tools}?status={word}" for word in ("degraded", "failed")},
        # The places of its columns; the first is that of the boxes to tick.
        **{
            f"tools, {what} first": f"{tools}?o=-{place}"
            for place, what in ((5, "busiest"), (6, "most failing"), (7, "slowest"))
        },
        "tools, one of them": reverse("admin:tools_tool_change", args=[one.pk]),
        "health now": reverse("admin:health_healthsnapshot_now"),
        "health, changes": reverse("admin:health_statuschange_changelist"),
        "health, history": reverse("admin:health_healthsnapshot_changelist"),
        "health, history, strips of 7 days": f"{reverse('admin:health_healthsnapshot_changelist')}?span=7d",
        "success criteria": reverse("admin:tools_toolrequest_criteria"),
    }


def here(rows: int, tools: int, rounds: int, folder: Path) -> bool:
    """The trial on the database that the environment names; whether every page keeps the limits."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from bench.page_costs import measure, signed_in, table
    from bench.seeding import seed_journal
    from bench.seeding_figures import seed_figures
    from bench.seeding_health import seed_health
    from tests.processes import start_valkey

    settings.ALLOWED_HOSTS = ["*"]
    valkey = start_valkey(folder, settings.RUNTIME_PATHS.redis_socket)
    try:
        began = time.monotonic()
        call_command("migrate", verbosity=0)
        made = seed_journal(rows, tools)
        seed_figures(made.until)
        changes = seed_health()
        took = time.monotonic() - began
        print(
            f"{DATABASES[connection.vendor]}: {rows:,} calls of {tools} tools"
            f" and {changes:,} changes of status in {took:.0f} s"
        )
        costs = list(measure(signed_in(), pages(made.busiest), rounds))
    finally:
        valkey.terminate()
        valkey.wait()
    print(table(f"{DATABASES[connection.vendor]}, {rounds} rounds, ms", costs), flush=True)
    return all(cost.holds for cost in costs)


def apart(database: str, chosen: argparse.Namespace) -> bool:
    """The same in a process and on a database of its own."""
    from contextlib import ExitStack

    from tests.run_on_postgres import postgres

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cp-pages-"))
        given = {**os.environ, "DJANGO_SETTINGS_MODULE": "bench.settings", "VAR_DIR": folder}
        given.pop("DATABASE_URL", None)
        if database == "postgresql":
            given["DATABASE_URL"] = stack.enter_context(postgres())
        numbers = [f"--{name}={getattr(chosen, name)}" for name in ("rows", "tools", "rounds")]
        command = [sys.executable, "-m", "bench.admin_pages", "--here", folder, *numbers]
        return subprocess.run(command, env=given, check=False).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--here", metavar="FOLDER", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.here:
        return 0 if here(chosen.rows, chosen.tools, chosen.rounds, Path(chosen.here)) else 1
    wanted = [*DATABASES] if chosen.database == "both" else [chosen.database]
    # All of them, also after one that fails.
    verdicts = [apart(database, chosen) for database in wanted]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
