"""The worker's side of an evaluation: one pipeline after the other, question by question."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q

from tools.models import EvaluationJob, EvaluationPart, EvaluationRun, IndexVersion
from tools.models.evaluations import JobState, PartState
from tools.pipelines.blocks.embedder import EmbedderUnavailable
from tools.pipelines.contracts import BlockUnavailable
from tools.pipelines.evaluation.datasets import Dataset
from tools.pipelines.evaluation.runs import Task
from tools.services.evaluate import keep_part, measure_pipeline
from tools.services.evaluation_corpus import task_for
from tools.services.evaluation_jobs import STALE_AFTER, end_job

logger = logging.getLogger(__name__)

# How often progress is written down, and a cancellation found out.
TELL_EVERY: Final = 0.5
# Well within what workers are given before they are taken for dead.
BEAT_SECONDS: Final = 20.0
# A pipeline that ended this many workers is not measured again.
MOST_ATTEMPTS: Final = 2
GONE: Final = "The index version it was begun on is gone. Start another one."
KILLED: Final = "Measuring it ended the worker twice. Is there enough memory?"
BUG: Final = "It failed on a bug. The worker's log has the reason."
TOO_LONG: Final = "It took too long and was stopped. Use fewer questions."


class Stopped(Exception):
    """The evaluation was cancelled, or somebody else is at it."""


def run_job(job_id: int) -> None:
    """Measure what is left to measure; nothing when somebody else is at it or it has ended."""
    runner = uuid.uuid4().hex
    job = _claimed(job_id, runner)
    if job is None:
        logger.info("Evaluation %d is not there to be taken up", job_id)
        return
    try:
        if job.version is None:
            end_job(job, JobState.FAILED, GONE)
            return
        task = task_of(job)
        for part in job.parts.filter(state__in=(PartState.WAITING, PartState.RUNNING)):
            part.job = job
            _run_part(part, job.version, task, runner)
        _finish(job, runner)
    except Stopped:
        logger.info("Evaluation %d was cancelled or taken over", job_id)
    except SoftTimeLimitExceeded:
        end_job(job, JobState.FAILED, TOO_LONG, runner)


def task_of(job: EvaluationJob) -> Task:
    """The questions of the set as they are now."""
    rows = list(job.question_set.questions.order_by("pk"))
    dataset = Dataset(
        name=job.question_set.name,
        documents={},
        queries={row.key: row.text for row in rows},
        judgements={row.key: row.relevant for row in rows},
    )
    return task_for(job.question_set.corpus, dataset)


def _claimed(job_id: int, runner: str) -> EvaluationJob | None:
    """The evaluation, if it waits for somebody or was left by a worker that died."""
    now = datetime.now(UTC)
    free = Q(state=JobState.WAITING) | Q(state=JobState.RUNNING, touched_at__lt=now - STALE_AFTER)
    mine = EvaluationJob.objects.filter(free, pk=job_id)
    if not mine.update(state=JobState.RUNNING, runner=runner, touched_at=now):
        return None
    return EvaluationJob.objects.select_related("question_set__corpus", "version__corpus").get(
        pk=job_id
    )


def _run_part(part: EvaluationPart, version: IndexVersion, task: Task, runner: str) -> None:
    """Measure one pipeline; what goes wrong with it is its own affair."""
    if EvaluationRun.objects.filter(part=part).exists():
        _settle(part, PartState.DONE)
        return
    if part.attempts >= MOST_ATTEMPTS:
        _settle(part, PartState.FAILED, KILLED)
        return
    total = len(task.dataset.judged_queries)
    _tell(part, runner, done=0, total=total, state=PartState.RUNNING, attempts=F("attempts") + 1)
    last = time.monotonic()

    def progress(what: str, done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last >= TELL_EVERY:
            last = time.monotonic()
            _tell(part, runner, done=done, total=total)

    try:
        with signs_of_life(part.job_id, runner):
            measured = measure_pipeline(part.pipeline_name, version, task, progress)
        with transaction.atomic():
            _tell(part, runner, state=PartState.DONE, error="")
            keep_part(part, version, task, measured)
    except (Stopped, SoftTimeLimitExceeded):
        raise
    except (BlockUnavailable, EmbedderUnavailable) as fault:
        _settle(part, PartState.FAILED, str(fault))
    except Exception:
        logger.exception("%s could not be measured", part.pipeline_name)
        _settle(part, PartState.FAILED, BUG)


@contextmanager
def signs_of_life(job_id: int, runner: str) -> Iterator[None]:
    """Say again and again that somebody is at it: models may take longer to load than the dead are given."""
    ended = threading.Event()

    def beat() -> None:
        mine = EvaluationJob.objects.filter(pk=job_id, runner=runner, state=JobState.RUNNING)
        try:
            while not ended.wait(BEAT_SECONDS):
                mine.update(touched_at=datetime.now(UTC))
        except DatabaseError as fault:
            logger.warning("Evaluation %d cannot tell that it goes on: %s", job_id, fault)
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name=f"evaluation-{job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(part: EvaluationPart, runner: str, **fields: object) -> None:
    """Say how far it is, and that somebody is at it."""
    mine = EvaluationJob.objects.filter(pk=part.job_id, runner=runner, state=JobState.RUNNING)
    if not mine.update(touched_at=datetime.now(UTC)):
        raise Stopped
    EvaluationPart.objects.filter(pk=part.pk).update(**fields)


def _settle(part: EvaluationPart, state: PartState, error: str = "") -> None:
    EvaluationPart.objects.filter(pk=part.pk).update(state=state, error=error[:1000])


def _finish(job: EvaluationJob, runner: str) -> None:
    """The end: failed only when nothing could be measured."""
    done = job.parts.filter(state=PartState.DONE).exists()
    EvaluationJob.objects.filter(pk=job.pk, runner=runner, state=JobState.RUNNING).update(
        state=JobState.DONE if done else JobState.FAILED,
        error="" if done else "No pipeline could be measured.",
        finished_at=datetime.now(UTC),
    )
