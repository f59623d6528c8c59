"""Incidents, told from the changes of status: what was not well, how bad it was, from when until when.

    begins      a status leaves the good ones
    ends        it is good again; nobody sees the end of what is not watched any more
    goes on     it comes back within `CALM`, and how often that happened is counted

What is bad now is what the latest report says is bad, also when it began long ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple

from django.db.models import Max, Subquery

from health.findings import HealthReport
from health.known import written_down
from health.models import StatusChange, Subject
from health.record import GOOD

RECENT: Final = timedelta(days=7)
# What was well for less has not ended.
CALM: Final = timedelta(minutes=5)
MOST_READ: Final = 1000
# Among how many changes before those the beginning of an incident is searched for.
MOST_SEARCHED: Final = 20_000
# What is new, or was not watched for a while, counts as having been well.
WELL: Final = GOOD | {""}
GRAVITY: Final = {"unknown": 1, "degraded": 2, "unavailable": 3}
# Subject and name.
Key = tuple[str, str]


class Change(NamedTuple):
    """What is read of a change of status."""

    pk: int
    at: datetime
    subject: str
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that was not well, `times` times in a row.

    `began` is None when that was before anything that is remembered, `ended` while it is `ongoing` and
    when nobody saw it. `first` and `gravest` are the changes behind it.
    """

    subject: str
    name: str
    worst: str
    began: datetime | None = None
    ended: datetime | None = None
    ongoing: bool = True
    times: int = 1
    first: int | None = None
    gravest: int | None = None
    reason: str = ""

    @property
    def key(self) -> Key:
        return self.subject, self.name

    def lasted(self, now: datetime) -> timedelta | None:
        """How long it was, or has been up to `now`; None when that is not known."""
        until = now if self.ongoing else self.ended
        return None if until is None or self.began is None else max(until - self.began, timedelta())


@dataclass(frozen=True, slots=True)
class Recent:
    """Incidents to show, how many `more` there are, and since when all were read if not for `RECENT`."""

    incidents: list[Incident]
    more: int = 0
    cut_at: datetime | None = None


def recent_incidents(most: int, now: datetime | None = None) -> Recent:
    """The latest: those that are not over, then the others, each kind the newest first."""
    since = (now or datetime.now(UTC)) - RECENT
    # Not their reasons, which may be long.
    rows = StatusChange.objects.filter(at__gte=since).values_list(*Change._fields)[:MOST_READ]
    changes = [Change(*row) for row in rows][::-1]
    courses = paired(changes)
    report = written_down()
    if report is not None:
        _confirm(courses, unwell(report))
    found = _begun_earlier(courses, changes)
    found.sort(key=_place, reverse=True)
    cut_at = changes[0].at if len(changes) == MOST_READ else None
    return Recent(_with_reasons(found[:most]), max(0, len(found) - most), cut_at)


def paired(changes: Iterable[Change]) -> dict[Key, list[Incident]]:
    """The incidents of each key, from its changes; both have the oldest first."""
    courses: dict[Key, list[Incident]] = {}
    for change in changes:
        if not {change.before, change.after} <= WELL:
            _take(courses.setdefault((change.subject, change.name), []), change)
    return courses


def unwell(report: HealthReport) -> dict[Key, tuple[str, str]]:
    """Status and reason of all that a report finds bad."""
    return {key: told for key, told in found_in(report).items() if told[0] not in GOOD}


def found_in(report: HealthReport) -> dict[Key, tuple[str, str]]:
    """Status and reason of all that a report counts."""
    found = {
        (Subject.SERVICE.value, Subject.SERVICE.value): (
            report.status.value,
            "; ".join(report.reasons),
        )
    }
    for name, dependency in report.dependencies.items():
        found[Subject.DEPENDENCY.value, name] = dependency.status.value, dependency.error or ""
    for name, pipeline in report.pipelines.items():
        if pipeline.counted:
            found[Subject.PIPELINE.value, name] = pipeline.status.value, pipeline.error or ""
    return found


def _take(course: list[Incident], change: Change) -> None:
    last = course[-1] if course else None
    if change.after in GOOD:
        if last is None:
            # It was bad when the first change that was read came.
            last = _opened(change, began=False)
            course.append(last)
        if last.ongoing:
            course[-1] = replace(last, ongoing=False, ended=change.at)
    elif last is not None and last.ongoing and change.before not in WELL:
        course[-1] = _worsened(last, change)
    elif last is not None and last.ended is not None and change.at - last.ended < CALM:
        again = replace(last, ongoing=True, ended=None, times=last.times + 1)
        course[-1] = _worsened(again, change)
    else:
        if last is not None:
            # If it was not over, nobody watched it in between.
            course[-1] = replace(last, ongoing=False)
        course.append(_opened(change, began=last is not None or change.before in WELL))


def _opened(change: Change, *, began: bool) -> Incident:
    return Incident(
        change.subject,
        change.name,
        change.after if began else _worst(change.after, change.before),
        began=change.at if began else None,
        first=change.pk if began else None,
        gravest=change.pk if change.after not in GOOD else None,
    )


def _worsened(one: Incident, change: Change) -> Incident:
    worst = _worst(one.worst, change.after)
    return one if worst == one.worst else replace(one, worst=worst, gravest=change.pk)


def _confirm(courses: dict[Key, list[Incident]], bad: Mapping[Key, tuple[str, str]]) -> None:
    """Close what the report does not find bad, and add what it does and no change was read of."""
    for key, course in courses.items():
        if course[-1].ongoing and key not in bad:
            course[-1] = replace(course[-1], ongoing=False)
    for key, (status, reason) in bad.items():
        if key not in courses:
            courses[key] = [Incident(*key, worst=status, reason=reason)]


def _begun_earlier(courses: Mapping[Key, list[Incident]], changes: list[Change]) -> list[Incident]:
    """All incidents; those that began before the changes that were read, with their beginning."""
    found = list(chain.from_iterable(courses.values()))
    names = {one.name for one in found if one.began is None}
    if not names:
        return found
    begun = {(row.subject, row.name): row for row in _beginnings(names, changes)}
    return [
        _begun(one, begun[one.key]) if one.began is None and one.key in begun else one
        for one in found
    ]


def _beginnings(names: Iterable[str], changes: list[Change]) -> list[Change]:
    newest = StatusChange.objects.order_by("-pk").values("pk")[:1]
    earlier = StatusChange.objects.filter(
        pk__gt=Subquery(newest) - MOST_READ - MOST_SEARCHED, name__in=names, before__in=WELL
    ).exclude(after__in=GOOD)
    if changes:
        earlier = earlier.filter(pk__lt=changes[0].pk)
    latest = earlier.order_by().values("subject", "name").annotate(latest=Max("pk"))
    rows = StatusChange.objects.filter(pk__in=latest.values("latest"))
    return [Change(*row) for row in rows.values_list(*Change._fields)]


def _begun(one: Incident, change: Change) -> Incident:
    worst = _worst(one.worst, change.after)
    gravest = change.pk if worst == change.after else one.gravest
    return replace(one, began=change.at, first=change.pk, worst=worst, gravest=gravest)


def _with_reasons(incidents: list[Incident]) -> list[Incident]:
    # Of those that are shown, and no others.
    behind = [one.gravest for one in incidents if one.gravest is not None]
    known = StatusChange.objects.filter(pk__in=behind).values_list("pk", "reason")
    reasons: dict[int | None, str] = dict(known)
    return [replace(one, reason=one.reason or reasons.get(one.gravest, "")) for one in incidents]


def _place(one: Incident) -> tuple[bool, datetime, bool]:
    # The service before what made it so.
    at = one.began or one.ended or datetime.min.replace(tzinfo=UTC)
    return one.ongoing, at, one.subject == Subject.SERVICE


def _worst(one: str, other: str) -> str:
    return max(one, other, key=lambda status: GRAVITY.get(status, 0))
