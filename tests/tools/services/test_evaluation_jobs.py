"""Evaluations: begun once, worked on by one, ended whatever happens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import make_corpus, make_pipeline, make_version
from tests.indexes import corpus_of_texts, index_dir
from tests.processes import wait_until
from tests.questions import make_questions
from tools.models import EvaluationJob, EvaluationRun, LabelledQuestion, PipelineConfig, QuestionSet
from tools.models.evaluations import JobState
from tools.services import run_evaluation
from tools.services.corpora import build_index
from tools.services.evaluation_jobs import (
    CannotStart,
    cancel_evaluation,
    end_job,
    resume_evaluations,
    start_evaluation,
)
from tools.services.index_workers import index_workers
from tools.services.run_evaluation import run_job

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "index_dir")]


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is handed to the workers; nobody takes it."""
    told: list[Any] = []
    monkeypatch.setattr(index_workers, "send", lambda task, given: told.append((task, given)))
    return told


@pytest.fixture
def questions() -> QuestionSet:
    """Questions about a corpus whose index is a row alone."""
    corpus = make_corpus(slug="library")
    make_version(corpus, state="active")
    return make_questions(corpus)


@pytest.fixture
def searchable() -> QuestionSet:
    """Questions about a corpus with a real index."""
    corpus = corpus_of_texts()
    assert build_index(corpus).state == "active"
    return make_questions(corpus)


def parts(job: EvaluationJob) -> dict[str, tuple[str, int, int]]:
    return {one.pipeline_name: (one.state, one.done, one.total) for one in job.parts.all()}


def test_pipelines_are_measured_and_kept_with_the_set_and_its_version(
    searchable: QuestionSet, sent: list[Any]
) -> None:
    job = start_evaluation(searchable, ["basic", "crag", "basic"], "ada")
    assert sent == [("run_evaluation", [job.pk])]
    assert parts(job) == {"basic": ("waiting", 0, 2), "crag": ("waiting", 0, 2)}

    run_job(job.pk)

    job.refresh_from_db()
    assert (job.state, job.error, job.started_by) == ("done", "", "ada")
    assert parts(job) == {"basic": ("done", 2, 2), "crag": ("done", 2, 2)}
    run = EvaluationRun.objects.get(pipeline_name="basic")
    assert (run.question_set, run.dataset, run.version, run.queries) == (
        searchable,
        "Handbook",
        job.version,
        2,
    )
    assert run.per_query == {"birds": 1.0, "pumps": 1.0}
    assert run.measures["recall@5"] == 1
    assert run.comparison == {}
    # A message that comes again changes nothing.
    run_job(job.pk)
    assert EvaluationRun.objects.count() == 2


def test_a_later_run_is_compared_question_by_question_with_the_one_before(
    searchable: QuestionSet,
) -> None:
    run_job(start_evaluation(searchable, ["basic"]).pk)
    LabelledQuestion.objects.filter(key="birds").update(relevant={"gone.txt": 1})
    run_job(start_evaluation(searchable, ["basic"]).pk)
    after, before = EvaluationRun.objects.order_by("-pk")
    assert after.per_query == {"birds": 0.0, "pumps": 1.0}
    assert (after.comparison["run"], after.comparison["worse"]) == (before.pk, 1)
    assert after.comparison["difference"] == -0.5


def test_one_pipeline_that_fails_does_not_stop_the_others(
    searchable: QuestionSet,
) -> None:
    make_pipeline(pipeline_name="basic", corpus=searchable.corpus)
    # Changed in the database by hand; the admin would not have it.
    PipelineConfig.objects.update(default_parameters={"top_k": "many"})
    job = start_evaluation(searchable, ["basic", "crag"])
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done"
    assert parts(job)["crag"] == ("done", 2, 2)
    failed = job.parts.get(pipeline_name="basic")
    assert (failed.state, failed.error) == (
        "failed",
        "It failed on a bug. The worker's log has the reason.",
    )


def test_an_evaluation_in_which_nothing_could_be_measured_has_failed(
    questions: QuestionSet,
) -> None:
    job = start_evaluation(questions, ["basic"])
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "No pipeline could be measured.")


def test_an_evaluation_whose_version_is_gone_says_so(questions: QuestionSet) -> None:
    job = start_evaluation(questions, ["basic"])
    questions.corpus.versions.all().delete()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error.split(".")[0]) == (
        "failed",
        "The index version it was begun on is gone",
    )


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "Choose at least one pipeline."),
        (["guessing"], "There is no pipeline guessing."),
    ],
)
def test_what_cannot_be_measured_is_told_before_anything_begins(
    questions: QuestionSet, names: list[str], told: str
) -> None:
    with pytest.raises(CannotStart, match=told):
        start_evaluation(questions, names)
    assert not EvaluationJob.objects.exists()


def test_a_set_without_questions_or_without_an_index_is_told() -> None:
    corpus = make_corpus(slug="papers")
    empty = make_questions(corpus, "Empty", ())
    with pytest.raises(CannotStart, match=r"Empty has no questions\. Add some first\."):
        start_evaluation(empty, ["basic"])
    with pytest.raises(CannotStart, match=r"The corpus papers has no index in use\."):
        start_evaluation(make_questions(corpus), ["basic"])


def test_only_one_evaluation_of_a_set_at_a_time(questions: QuestionSet) -> None:
    first = start_evaluation(questions, ["basic"])
    with pytest.raises(CannotStart, match=r"is under way\. Wait for its end, or cancel it\."):
        start_evaluation(questions, ["crag"])
    assert cancel_evaluation(first)
    assert not cancel_evaluation(first)
    start_evaluation(questions, ["crag"])


def test_a_cancelled_evaluation_is_not_run_and_one_cancelled_meanwhile_stops(
    searchable: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.pipelines.kinds.basic import Basic

    ranked = Basic.rank
    job = start_evaluation(searchable, ["basic", "crag"])

    def cancelling(*args: Any) -> Any:
        cancel_evaluation(job)
        return ranked(*args)

    monkeypatch.setattr(Basic, "rank", cancelling)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert {state for state, _, _ in parts(job).values()} == {"cancelled"}
    assert not EvaluationRun.objects.exists()
    run_job(job.pk)
    assert not EvaluationRun.objects.exists()


def test_one_whose_worker_died_is_handed_out_again_and_one_that_moves_is_not(
    questions: QuestionSet, sent: list[Any]
) -> None:
    job = start_evaluation(questions, ["basic"])
    EvaluationJob.objects.update(state=JobState.RUNNING, runner="dead")
    assert resume_evaluations() == 0
    assert resume_evaluations(datetime.now(UTC) + timedelta(minutes=2)) == 1
    assert sent == [("run_evaluation", [job.pk])] * 2
    job.refresh_from_db()
    assert (job.state, job.runner) == ("waiting", "")
    assert resume_evaluations() == 0


def test_a_pipeline_that_ended_two_workers_is_given_up(questions: QuestionSet) -> None:
    job = start_evaluation(questions, ["basic"])
    job.parts.update(state="running", attempts=2)
    run_job(job.pk)
    part = job.parts.get()
    assert (part.state, part.error.split(".")[0]) == (
        "failed",
        "Measuring it ended the worker twice",
    )


def test_one_that_was_measured_before_its_worker_died_is_not_measured_again(
    questions: QuestionSet,
) -> None:
    job = start_evaluation(questions, ["basic"])
    EvaluationRun.objects.create(
        pipeline_name="basic", dataset="Handbook", queries=2, part=job.parts.get()
    )
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.parts.get().state) == ("done", "done")
    assert EvaluationRun.objects.count() == 1


def test_a_lost_evaluation_makes_way_for_another(questions: QuestionSet) -> None:
    lost = start_evaluation(questions, ["basic"])
    EvaluationJob.objects.update(
        state=JobState.RUNNING, touched_at=datetime.now(UTC) - timedelta(minutes=6)
    )
    start_evaluation(questions, ["basic"])
    lost.refresh_from_db()
    assert (lost.state, lost.error) == ("lost", "Its worker ended, and nobody took it up again.")
    assert lost.parts.get().state == "failed"


def test_what_could_not_be_sent_is_sent_with_the_next_round(
    questions: QuestionSet, monkeypatch: pytest.MonkeyPatch, sent: list[Any]
) -> None:
    def refuse(task: str, given: Any) -> None:
        raise ConnectionError("no broker")

    with monkeypatch.context() as patch:
        patch.setattr(index_workers, "send", refuse)
        job = start_evaluation(questions, ["basic"])
    assert resume_evaluations() == 1
    assert sent == [("run_evaluation", [job.pk])]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_loads_models_for_long_is_not_taken_for_dead(
    questions: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_evaluation, "BEAT_SECONDS", 0.05)
    job = start_evaluation(questions, ["basic"])
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    mine = EvaluationJob.objects.filter(pk=job.pk)
    mine.update(state=JobState.RUNNING, runner="me", touched_at=long_ago)

    def touched() -> bool:
        return mine.get().touched_at > long_ago

    with run_evaluation.signs_of_life(job.pk, "me"):
        wait_until(touched, what="a sign of life")
    # Once another has taken it over, it is the other's.
    mine.update(runner="another", touched_at=long_ago)
    end_job(job, JobState.FAILED, "late", "me")
    assert (mine.get().state, mine.get().touched_at) == (JobState.RUNNING, long_ago)
