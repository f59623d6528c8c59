"""Figures added up further, by one thing at a time, so that long stretches are read from few rows.

These are copies: everything in here is in the rows of `CallFigures` too. A span says of which stretches
there are copies; whoever adds figures adds them to both in one transaction, so that a stretch
that has a copy once stays complete.
"""

from __future__ import annotations

from typing import Final

from django.db import models
from typing_extensions import override

from tools.models.figures import Counted, TalliedManager

# Lengths of stretches in seconds, each a part of the next. Doubled from a day on: a month is then
# read from five or six rows, wherever it begins.
FIVE_MINUTES: Final = 300
HOUR: Final = 3600
QUARTER_DAY: Final = 21_600
DAY: Final = 86_400
DAYS: Final = tuple(days * DAY for days in (1, 2, 4, 8, 16))
SUM_LENGTHS: Final = (FIVE_MINUTES, HOUR, QUARTER_DAY, *DAYS)
# What calls are told apart by; the first means not at all.
TOGETHER: Final = ""
KINDS: Final = (TOGETHER, "tool", "source", "dependency", "caller")


class CallSums(Counted):
    """Calls that arrived within one stretch of time, by tool, or caller, or whatever `by` says.

    `endings` tells how many ended with which status and code; `sketch` has the times of those that
    succeeded, `failed_sketch` the times of the others.
    """

    by = models.CharField(max_length=10, blank=True)
    name = models.CharField(max_length=140, blank=True)
    seconds = models.PositiveIntegerField()
    begins_at = models.DateTimeField()
    endings = models.TextField()
    sketch = models.TextField(blank=True)
    failed_sketch = models.TextField(blank=True)

    objects = TalliedManager()

    class Meta:
        verbose_name_plural = "call sums"
        constraints = (
            models.UniqueConstraint(
                fields=["by", "seconds", "begins_at", "name"], name="sums_one_row_each"
            ),
        )

    @override
    def __str__(self) -> str:
        return f"{self.by} {self.name} {self.begins_at:%Y-%m-%d %H:%M}".strip()


class SumsSpan(models.Model):
    """From when until before when there are sums of all stretches of one length."""

    seconds = models.PositiveIntegerField(primary_key=True)
    since = models.DateTimeField()
    until = models.DateTimeField()

    @override
    def __str__(self) -> str:
        return f"{self.seconds} s: {self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M}"
