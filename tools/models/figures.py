"""Figures of calls, written with the rows of the request log and in the same transaction.

Each batch of the journal adds rows of its own and touches nobody else's, so processes do not wait for
each other; a periodic task adds them up. What is in no batch yet is in no row of the log either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from django.db import connections, models
from django.db.models import Q
from typing_extensions import override

from tools.figures import NUMBERS, Summed, Tally, tallied

# How long a row's stretch is, in seconds; those of one batch are of a minute too, but many to one.
FRESH: Final = 0
MINUTE: Final = 60
HOUR: Final = 3600
LENGTHS: Final = (FRESH, MINUTE, HOUR)
# Stands for all callers together, in rows that were added up; there are such beside those of each.
EVERY_CALLER: Final = ""
# What tells rows of one stretch apart.
ALIKE: Final = ("tool", "source", "dependency", "caller", "status", "code")
TOTAL_ALIKE: Final = ("tool", "source", "dependency", "status", "code")
# Columns that tallies write as texts, where a table has them.
TEXTS: Final = ("histogram", "sketch", "endings", "failed_sketch")


class Counted(models.Model):
    """Numbers over calls, in the order of `NUMBERS`."""

    calls = models.BigIntegerField(default=0)
    timed = models.BigIntegerField(default=0)
    time_ms = models.FloatField(default=0.0)
    cache_hits = models.BigIntegerField(default=0)
    cache_misses = models.BigIntegerField(default=0)
    tokens_before = models.BigIntegerField(default=0)
    tokens_after = models.BigIntegerField(default=0)
    shortened = models.BigIntegerField(default=0)
    saved_percent = models.FloatField(default=0.0)
    validated = models.BigIntegerField(default=0)
    invalid_refused = models.BigIntegerField(default=0)
    invalid_passed = models.BigIntegerField(default=0)
    refused_rate = models.BigIntegerField(default=0)
    refused_slot = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class Tallied(Counted):
    """Sums over calls that ended alike."""

    tool = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=16, blank=True)
    dependency = models.CharField(max_length=100, blank=True)
    status = models.CharField(max_length=8)
    code = models.CharField(max_length=24, blank=True)
    histogram = models.TextField()

    class Meta:
        abstract = True


class TalliedManager(models.Manager[Any]):
    """Rows of sums. Plain SQL: building model instances costs more than the rest."""

    def insert(
        self, names: Sequence[str], rows: Iterable[tuple[Sequence[Any], Tally | Summed]]
    ) -> None:
        """Write tallies, each under its values of `names`."""
        connection = connections[self.db]
        own = {field.column for field in self.model._meta.concrete_fields}
        written = [name for name in TEXTS if name in own]
        columns = [*names, *NUMBERS, *written]
        statement = (
            f"INSERT INTO {self.model._meta.db_table} ({', '.join(columns)})"  # noqa: S608 - our own names
            f" VALUES ({', '.join(['%s'] * len(columns))})"
        )
        # There are few moments and many rows.
        adapted = lru_cache(connection.ops.adapt_datetimefield_value)
        values = [
            (
                *(adapted(value) if isinstance(value, datetime) else value for value in key),
                *tally.numbers,
                *(tally.written(name) for name in written),
            )
            for key, tally in rows
        ]
        if values:
            with connection.cursor() as cursor:
                cursor.executemany(statement, values)


class FiguresManager(TalliedManager):
    """Rows of figures, written from closing events."""

    def record(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Count calls, each of which has just been finished. Belongs into the transaction that did it."""
        moment = lru_cache(_utc)
        found = tallied(events).items()
        rows = (((moment(minute), FRESH, *alike), tally) for (minute, *alike), tally in found)
        self.insert(("begins_at", "seconds", *ALIKE), rows)


def _utc(minute: str) -> datetime:
    return datetime.fromisoformat(minute).replace(tzinfo=UTC)


class CallFigures(Tallied):
    """Calls that arrived within one stretch of time, by tool, caller and how they ended.

    `seconds` is 0 for the rows of one batch, whose stretch is a minute, and the length of the
    stretch for what was added up. `tool` is empty for names that are no tool. What was added up
    stands twice: by caller, and with an empty `caller` for all of them together, because most questions
    are not about callers and there may be very many.
    """

    begins_at = models.DateTimeField()
    seconds = models.PositiveSmallIntegerField(default=FRESH)
    caller = models.CharField(max_length=140, blank=True)
    sketch = models.TextField(blank=True)

    objects = FiguresManager()

    class Meta:
        verbose_name_plural = "call figures"
        # Readers of a stretch name all lengths.
        indexes = (models.Index(fields=["seconds", "begins_at", "caller"], name="figures_by_time"),)
        constraints = (
            models.UniqueConstraint(
                fields=["seconds", "begins_at", *ALIKE],
                condition=~Q(seconds=FRESH),
                name="figures_added_up_once",
            ),
            models.CheckConstraint(condition=Q(seconds__in=LENGTHS), name="figures_known_stretch"),
        )

    @override
    def __str__(self) -> str:
        return f"{self.tool or '(no tool)'} {self.begins_at:%Y-%m-%d %H:%M}"


class CallTotals(Tallied):
    """All calls ever whose figures were added up; what is in no total is in the rows not yet added up.

    `tool` is empty for names that are no tool, whose `source` is empty too, and for tools that were
    deleted since.
    """

    objects = TalliedManager()

    class Meta:
        verbose_name_plural = "call totals"
        constraints = (models.UniqueConstraint(fields=[*TOTAL_ALIKE], name="totals_one_row_each"),)

    @override
    def __str__(self) -> str:
        return f"{self.tool or '(no tool)'} {self.status}"
