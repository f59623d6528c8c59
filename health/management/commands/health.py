"""`manage.py health`: how the service is, for people and for scripts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser
from typing_extensions import override

from health.findings import HealthReport, Source
from health.known import published, written_down
from health.once import measure_once
from health.status import HealthStatus

# What is older is measured anew.
OLDEST_SECONDS: Final = 60.0
CODES: Final = {HealthStatus.HEALTHY: 0, HealthStatus.DEGRADED: 1, HealthStatus.UNAVAILABLE: 2}
WHO: Final = {Source.SNAPSHOT: "a round of the workers", Source.MEASURED: "one process"}


class Command(BaseCommand):
    """Prints the latest report. Ends with 0 when it is healthy, 1 when degraded, 2 when unavailable."""

    help = "Print how the service is; ends with 0 healthy, 1 degraded, 2 unavailable."
    # It must also work where the checks would not.
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print the report as JSON.")
        parser.add_argument(
            "--check", action="store_true", help="Measure now instead of telling what is known."
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        with _quiet(loud=options["verbosity"] > 1):
            report = None if options["check"] else _recent()
            if report is None:
                report = asyncio.run(measure_once())
        if options["json"]:
            told = {**report.to_json(), "reasons": report.reasons}
            told["age_seconds"] = round(report.age_seconds, 3)
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(report)))
        raise SystemExit(CODES[report.status])


@contextmanager
def _quiet(*, loud: bool) -> Iterator[None]:
    """Without the log of what is away, which the table tells in fewer words; `-v 2` shows it."""
    if not loud:
        logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _recent() -> HealthReport | None:
    """What some process measured within the last minute. The database is asked only without Redis."""
    for ask in (published, written_down):
        report = ask()
        if report is not None and report.age_seconds <= OLDEST_SECONDS:
            return report
    return None


def _lines(report: HealthReport) -> Iterable[str]:
    yield f"{report.status.value}, measured {report.age_seconds:.0f} s ago by {WHO[report.source]}"
    yield ""
    rows = [("DEPENDENCY", "STATUS", "TIME", "FOUND")]
    rows += [
        (name, one.status.value, _milliseconds(one.response_time_ms), one.error or "")
        for name, one in report.dependencies.items()
    ]
    yield from _table(rows)
    if report.pipelines:
        yield ""
        rows = [("PIPELINE", "STATUS", "TIME", "FOUND")]
        rows += [
            (
                name,
                one.status.value if one.counted else "not counted",
                _milliseconds(one.canary_ms),
                one.error or "",
            )
            for name, one in report.pipelines.items()
        ]
        yield from _table(rows)


def _milliseconds(value: int | None) -> str:
    return "-" if value is None else f"{value} ms"


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
