"""How everything was over a time: the service, each dependency and each pipeline, in even steps.

A status holds from the change that brought it to the next one. Steps in which no round of checks was kept
count as not measured, whatever was known before them: the service did not run, or its rounds are pruned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from django.db.models import Exists

from health.findings import HealthReport
from health.incidents import GRAVITY, Change, Key, found_in
from health.known import written_down
from health.models import CurrentHealth, HealthSnapshot, StatusChange, Subject
from health.record import GOOD

# The latest; before those nothing is told.
MOST_READ: Final = 2000
# A status from one moment to another.
Stretch = tuple[datetime, datetime, str]


@dataclass(frozen=True, slots=True)
class Course:
    """How one thing was: the worst status of each step, "" where none is known.

    `well` is the share of the known time, None when there is none; `unwell` is how long it was not well.
    """

    subject: str
    name: str
    steps: Sequence[str]
    well: float | None
    unwell: timedelta


@dataclass(frozen=True, slots=True)
class Timeline:
    """The courses of all that is watched or was. Step `n` is from moment `n` to the next.

    `cut_at` is since when changes were read, if not all were.
    """

    moments: Sequence[datetime]
    courses: Sequence[Course]
    cut_at: datetime | None = None


def timeline(length: timedelta, steps: int, now: datetime | None = None) -> Timeline:
    """The latest stretch of that length; the service first, then what was not well for longest."""
    now = now or datetime.now(UTC)
    moments = [now - length + place * length / steps for place in range(steps + 1)]
    rows = StatusChange.objects.filter(at__gte=moments[0], at__lt=now)
    read = rows.values_list(*Change._fields)[:MOST_READ]
    changes = [Change(*row) for row in read][::-1]
    cut_at = changes[0].at if len(changes) == MOST_READ else None
    measured = _measured(moments)
    courses = [
        _course(key, list(_stretches(own, status, cut_at or moments[0], now)), moments, measured)
        for key, (own, status) in _known(changes, written_down()).items()
    ]
    courses.sort(
        key=lambda one: (one.subject != Subject.SERVICE, -one.unwell, one.subject, one.name)
    )
    return Timeline(moments, courses, cut_at)


def _known(
    changes: Sequence[Change], report: HealthReport | None
) -> dict[Key, tuple[list[Change], str]]:
    """The changes of everything, the oldest first, and how it is now: "" when nobody watches it any more."""
    known: dict[Key, tuple[list[Change], str]] = {
        key: ([], status) for key, (status, _) in (found_in(report) if report else {}).items()
    }
    for change in changes:
        known.setdefault((change.subject, change.name), ([], ""))[0].append(change)
    return known


def _measured(moments: Sequence[datetime]) -> list[bool]:
    """Whether a round of checks was kept in each step: all in one question, each part a look into an index."""
    rounds = HealthSnapshot.objects.order_by()
    looks = {
        f"step{place}": Exists(rounds.filter(taken_at__gte=begins, taken_at__lt=ends))
        for place, (begins, ends) in enumerate(pairwise(moments))
    }
    # There is one row, unless nothing was ever measured.
    found = CurrentHealth.objects.annotate(**looks).values_list(*looks).first()
    return list(found) if found else [False] * len(looks)


def _stretches(
    changes: Sequence[Change], status: str, since: datetime, now: datetime
) -> Iterator[Stretch]:
    """Each status with its time; `status` is the one of now."""
    if not changes:
        yield since, now, status
        return
    yield since, changes[0].at, changes[0].before
    for change, following in pairwise(changes):
        yield change.at, following.at, change.after
    # What is not watched any more has no status, and nobody knows since when.
    yield changes[-1].at, now, changes[-1].after if status else ""


def _course(
    key: Key, stretches: Sequence[Stretch], moments: Sequence[datetime], measured: Sequence[bool]
) -> Course:
    worst = [""] * len(measured)
    known, unwell = timedelta(), timedelta()
    place = 0
    for begins, ends, status in stretches:
        # Changes of one moment follow each other within a step.
        place = _step_of(begins, moments, place)
        for step in range(place, len(measured)):
            if moments[step] >= ends and step > place:
                break
            if not measured[step] or not status:
                continue
            worst[step] = max(worst[step], status, key=_gravity)
            length = min(ends, moments[step + 1]) - max(begins, moments[step])
            known += length
            unwell += timedelta() if status in GOOD else length
    well = 1 - unwell / known if known else None
    return Course(*key, steps=worst, well=well, unwell=unwell)


def _step_of(moment: datetime, moments: Sequence[datetime], after: int) -> int:
    """The step that a moment lies in, which is none before `after`."""
    last = len(moments) - 2
    while after < last and moments[after + 1] <= moment:
        after += 1
    return after


def _gravity(status: str) -> int:
    return GRAVITY.get(status, 0) if status else -1
