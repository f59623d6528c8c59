"""Evaluations that workers run: begun, followed, cancelled, and taken up again when a worker dies.

A worker claims an evaluation and tells again and again that it is at it. Whatever it does afterwards hangs
on that claim: one that was cancelled, or taken over by another worker, is found out at the next question.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction

from tools.models import EvaluationJob, EvaluationPart, IndexVersion, QuestionSet
from tools.models.corpora import VersionState
from tools.models.evaluations import UNDER_WAY, JobState, PartState
from tools.services.index_workers import index_workers
from tools.techniques import techniques

# A worker that was not heard of for so long is gone.
STALE_AFTER: Final = timedelta(seconds=90)
# Workers may be busy with an index for long; a message that was lost on its way is sent again then.
SEND_AGAIN_AFTER: Final = timedelta(minutes=10)
# With nobody there to take it up again, such as without a beat, another may be begun in its place.
LOST_AFTER: Final = timedelta(minutes=5)
LOST: Final = "Its worker ended, and nobody took it up again."


class CannotStart(Exception):
    """There is nothing to measure, or nothing to measure with; the message is for the operator."""


def start_evaluation(
    question_set: QuestionSet, pipelines: Sequence[str], by: str = ""
) -> EvaluationJob:
    """Let workers measure these pipelines on the index that is in use now.

    Raises:
        CannotStart: something is missing, or an evaluation of the set is under way.
    """
    names = list(dict.fromkeys(pipelines))
    version = _startable(question_set, names)
    _bury(question_set)
    try:
        with transaction.atomic():
            job = EvaluationJob.objects.create(
                question_set=question_set, version=version, started_by=by
            )
            total = question_set.questions.count()
            EvaluationPart.objects.bulk_create(
                EvaluationPart(job=job, pipeline_name=name, total=total) for name in names
            )
    except IntegrityError as fault:
        told = f"An evaluation of {question_set} is under way. Wait for its end, or cancel it."
        raise CannotStart(told) from fault
    _send(job)
    return job


def cancel_evaluation(job: EvaluationJob) -> bool:
    """Stop an evaluation; what was measured stays. False when it had ended already."""
    now = datetime.now(UTC)
    with transaction.atomic():
        open_one = EvaluationJob.objects.filter(pk=job.pk, state__in=UNDER_WAY)
        if not open_one.update(state=JobState.CANCELLED, finished_at=now, runner=""):
            return False
        _end_parts(job, PartState.CANCELLED, "")
    return True


def resume_evaluations(now: datetime | None = None) -> int:
    """Hand evaluations to workers again that nobody is at any more; how many there were."""
    now = now or datetime.now(UTC)
    gone = EvaluationJob.objects.filter(state=JobState.RUNNING, touched_at__lt=now - STALE_AFTER)
    gone.update(state=JobState.WAITING, runner="", touched_at=now - SEND_AGAIN_AFTER)
    waiting = EvaluationJob.objects.filter(
        state=JobState.WAITING, touched_at__lte=now - SEND_AGAIN_AFTER
    )
    found = list(waiting)
    for job in found:
        _send(job)
    return len(found)


def is_stale(job: EvaluationJob) -> bool:
    """Whether its worker was not heard of for too long."""
    return job.state == JobState.RUNNING and job.touched_at < datetime.now(UTC) - STALE_AFTER


def end_job(job: EvaluationJob, state: JobState, error: str = "", runner: str = "") -> None:
    """End an evaluation that is under way, and what of it had not begun; as `runner`, only while it is its own."""
    now = datetime.now(UTC)
    mine = {"runner": runner} if runner else {}
    with transaction.atomic():
        rows = EvaluationJob.objects.filter(pk=job.pk, state__in=UNDER_WAY, **mine)
        if rows.update(state=state, error=error[:1000], finished_at=now):
            _end_parts(job, PartState.FAILED, error)


def _startable(question_set: QuestionSet, names: Sequence[str]) -> IndexVersion:
    if not names:
        raise CannotStart("Choose at least one pipeline.")
    unknown = [name for name in names if techniques.get(name) is None]
    if unknown:
        raise CannotStart(f"There is no pipeline {', '.join(unknown)[:200]}.")
    if not question_set.questions.exists():
        raise CannotStart(f"{question_set} has no questions. Add some first.")
    corpus = question_set.corpus
    version: IndexVersion | None = corpus.versions.filter(state=VersionState.ACTIVE).first()
    if version is None:
        raise CannotStart(f"The corpus {corpus} has no index in use. Build one first.")
    return version


def _send(job: EvaluationJob) -> None:
    sent = index_workers.evaluate(job.pk)
    now = datetime.now(UTC)
    # What could not be sent is due again at once.
    EvaluationJob.objects.filter(pk=job.pk, state=JobState.WAITING).update(
        touched_at=now if sent else now - SEND_AGAIN_AFTER
    )


def _bury(question_set: QuestionSet) -> None:
    """End an evaluation whose worker is gone for good, so that it is not in the way."""
    before = datetime.now(UTC) - LOST_AFTER
    for job in question_set.evaluations.filter(state=JobState.RUNNING, touched_at__lt=before):
        end_job(job, JobState.LOST, LOST)


def _end_parts(job: EvaluationJob, state: PartState, error: str) -> None:
    open_ones = EvaluationPart.objects.filter(
        job=job, state__in=(PartState.WAITING, PartState.RUNNING)
    )
    open_ones.update(state=state, error=error[:1000])
