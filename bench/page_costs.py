"""What pages of the admin cost: server time and queries, through Django's test client."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controlplane.runtime.tuning import tune_interpreter

LIMIT_MS: Final = 300.0
MOST_QUERIES: Final = 30
WIDTH: Final = 42


@dataclass(frozen=True, slots=True)
class Cost:
    """One page. Times are those of the whole answer, template included, without the network.

    `cpu_ms` is what this process computed: more than that is waiting, for the database or a busy machine.
    """

    name: str
    median_ms: float
    worst_ms: float
    cpu_ms: float
    queries: int

    @property
    def holds(self) -> bool:
        return self.median_ms <= LIMIT_MS and self.queries <= MOST_QUERIES

    @property
    def line(self) -> str:
        verdict = "" if self.holds else "  OVER"
        share = self.median_ms / LIMIT_MS
        return (
            f"  {self.name:{WIDTH}}{self.median_ms:>8.0f}{self.worst_ms:>8.0f}"
            f"{self.cpu_ms:>8.0f}{self.queries:>9}{share:>8.2f}{verdict}"
        )


HEADER: Final = f"  {'page':{WIDTH}}{'median':>8}{'worst':>8}{'cpu':>8}{'queries':>9}{'of 300':>8}"


def signed_in() -> Any:
    """A client that may see everything."""
    from django.contrib.auth.models import User
    from django.test import Client

    person, _ = User.objects.get_or_create(
        username="bench", defaults={"is_staff": True, "is_superuser": True}
    )
    client = Client(headers={"host": "localhost"})
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    return client


def measure(client: Any, pages: Mapping[str, str], rounds: int) -> Iterator[Cost]:
    """Each page once to count and to warm up, then `rounds` times by the clock."""
    queries = {name: counted(client, address) for name, address in pages.items()}
    # As a web process is before its first request.
    tune_interpreter()
    for name, address in pages.items():
        times, computed = zip(*(_timed(client, address) for _ in range(rounds)), strict=True)
        median, cpu = statistics.median(times), statistics.median(computed)
        yield Cost(name, median, max(times), cpu, queries[name])


def counted(client: Any, address: str) -> int:
    """How many queries a page takes."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as found:
        _get(client, address)
    return len(found)


def table(title: str, costs: Iterable[Cost]) -> str:
    return "\n".join([f"\n{title}", HEADER, *(cost.line for cost in costs)])


def _timed(client: Any, address: str) -> tuple[float, float]:
    """Milliseconds by the clock and of the processor."""
    began, computed = time.perf_counter(), time.process_time()
    _get(client, address)
    return (time.perf_counter() - began) * 1000, (time.process_time() - computed) * 1000


def _get(client: Any, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")
    if answer.streaming:
        # Of a file, its head and its first part: what somebody waits for.
        parts = iter(answer.streaming_content)
        next(parts), next(parts)
        answer.close()
