"""Evaluations by real workers, one of which dies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.indexes import corpus_of_texts, index_dir
from tests.processes import wait_until
from tests.questions import make_questions
from tests.workers import celery_worker
from tools.models import EvaluationJob, EvaluationRun
from tools.services.corpora import build_index
from tools.services.evaluation_jobs import resume_evaluations, start_evaluation

__all__ = ["index_dir"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url", "index_dir"),
]

SECONDS = 90
MANY = tuple(
    (f"q{number}", f"When do the birds of {number} return?", {"birds.txt": 1})
    for number in range(3000)
)


def test_an_evaluation_goes_on_after_its_worker_was_killed(index_dir: Path, tmp_path: Path) -> None:
    corpus = corpus_of_texts()
    build_index(corpus)
    questions = make_questions(corpus, asked=MANY)
    job = start_evaluation(questions, ["basic"])
    part = job.parts.get()

    def moved() -> bool:
        part.refresh_from_db()
        return part.done > 0

    def ended() -> bool:
        job.refresh_from_db()
        return job.state not in {"waiting", "running"}

    with celery_worker(tmp_path / "first.log", 1, ("ingest",), INDEX_DIR=str(index_dir)) as first:
        wait_until(moved, SECONDS, "progress")
        first.kill()
    job.refresh_from_db()
    assert (job.state, EvaluationRun.objects.count()) == ("running", 0)
    questions.questions.exclude(key__in=("q1", "q2")).delete()
    with celery_worker(tmp_path / "second.log", 1, ("ingest",), INDEX_DIR=str(index_dir)):
        assert resume_evaluations(datetime.now(UTC) + timedelta(minutes=2)) == 1
        wait_until(ended, SECONDS, "the end of the evaluation")
    assert job.state == "done"
    assert EvaluationRun.objects.get().queries == 2
    assert not EvaluationJob.objects.exclude(pk=job.pk).exists()
