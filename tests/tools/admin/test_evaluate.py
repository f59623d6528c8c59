"""The page of evaluations: started, followed, cancelled, drawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_corpus, make_pipeline, make_version
from tests.questions import make_questions
from tests.tools.admin.pages import address, text
from tools.models import EvaluationJob, EvaluationRun, IndexVersion, QuestionSet
from tools.services.evaluation_jobs import start_evaluation
from tools.services.index_workers import index_workers
from tools.techniques import techniques

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is handed to the workers; nobody takes it."""
    told: list[Any] = []
    monkeypatch.setattr(index_workers, "send", lambda task, given: told.append((task, given)))
    return told


@pytest.fixture
def version() -> IndexVersion:
    return make_version(make_corpus(slug="library"), state="active")


@pytest.fixture
def questions(version: IndexVersion) -> QuestionSet:
    return make_questions(version.corpus)


def page(client: Client, **query: Any) -> str:
    return text(client.get(reverse("admin:tools_evaluationrun_evaluate"), query))


def send(client: Client, **values: Any) -> Any:
    return client.post(reverse("admin:tools_evaluationrun_evaluate"), values, follow=True)


def run(questions: QuestionSet | None, version: IndexVersion, **fields: Any) -> EvaluationRun:
    figures = {"ndcg@10": 0.44, "recall@5": 0.3, "recall@10": 0.5, "p50_ms": 8.0, "p95_ms": 21.0}
    values = {
        "pipeline_name": "basic",
        "dataset": "Handbook",
        "queries": 2,
        "measures": figures,
        "per_query": {"birds": 0.0, "pumps": 1.0},
        **fields,
    }
    return EvaluationRun.objects.create(question_set=questions, version=version, **values)


def test_an_evaluation_is_started_and_its_progress_shown(
    admin_client: Client, questions: QuestionSet, sent: list[Any]
) -> None:
    make_pipeline(pipeline_name="crag", corpus=questions.corpus)
    before = page(admin_client)
    assert '<input type="checkbox" name="pipelines" value="crag" checked>' in before
    assert '<input type="checkbox" name="pipelines" value="basic">' in before
    shown = text(send(admin_client, set=questions.pk, pipelines=["crag", "basic"]))
    assert "The evaluation of Handbook is on its way to the workers." in shown
    assert 'data-busy="yes"' in shown
    assert "Waiting for a worker." in shown
    job = EvaluationJob.objects.get()
    assert (job.started_by, sent) == ("admin", [("run_evaluation", [job.pk])])
    job.parts.filter(pipeline_name="crag").update(state="running", done=1)
    part = reverse("admin:tools_evaluationrun_results")
    followed = text(admin_client.get(part, {"set": questions.pk}))
    assert 'aria-valuenow="50"' in followed
    assert "<html" not in followed


def test_what_cannot_be_started_is_told(admin_client: Client, questions: QuestionSet) -> None:
    assert "Choose at least one pipeline." in text(send(admin_client, set=questions.pk))
    for wrong in ("", "999", "x", "9" * 40, "²"):
        told = text(send(admin_client, set=wrong, pipelines="basic"))
        assert "Choose a question set." in told
    assert not EvaluationJob.objects.exists()


def test_an_evaluation_is_cancelled_from_its_page(
    admin_client: Client, questions: QuestionSet
) -> None:
    job = start_evaluation(questions, ["basic"])
    assert "was cancelled. What was measured stays." in text(send(admin_client, cancel=job.pk))
    assert "had ended already" in text(send(admin_client, cancel=job.pk))
    assert send(admin_client, cancel="999").status_code == 404
    assert 'data-busy="no"' in page(admin_client)


def test_a_missing_worker_and_a_dead_one_are_told_in_words(
    admin_client: Client, questions: QuestionSet
) -> None:
    start_evaluation(questions, ["basic"])
    long_ago = datetime.now(UTC) - timedelta(minutes=3)
    EvaluationJob.objects.update(created_at=long_ago)
    assert "No worker has taken this up yet" in page(admin_client)
    EvaluationJob.objects.update(state="running", touched_at=long_ago)
    assert "Its worker was not heard of for a while." in page(admin_client)


def test_results_are_drawn_over_time_by_pipeline_and_version(
    admin_client: Client, questions: QuestionSet, version: IndexVersion
) -> None:
    first = run(questions, version)
    newer = make_version(version.corpus)
    better = {"ndcg@10": 0.46, "recall@5": 0.4, "recall@10": 0.5, "p50_ms": 9.0, "p95_ms": 22.0}
    comparison = {"run": first.pk, "difference": 0.02, "p_value": 0.3}
    run(questions, newer, measures=better, comparison=comparison)
    run(questions, newer, pipeline_name="crag", measures=better)
    shown = page(admin_client)
    for title in ("nDCG@10", "Recall@5", "Recall@10", "Latency, p50", "Latency, p95"):
        assert f'<span class="title">{title}</span>' in shown
    # Two steps; the line of basic goes over both, crag is a dot in the second.
    assert '<polyline class="look0" points="250.00,60.00 750.00,40.00"/>' in shown
    assert "<span>v1</span><span>v2</span>" in shown
    assert "basic, v1, " in shown
    assert ": nDCG@10 0.440" in shown
    assert "+0.020" in shown
    assert "p 0.30, chance?" in shown
    assert "21.0 ms" in shown


def test_collections_measured_by_the_command_are_drawn_too(
    admin_client: Client, version: IndexVersion
) -> None:
    run(None, version, dataset="cran & field", measures={"ndcg@10": "odd"})
    assert "cran &amp; field (command)" in page(admin_client)
    shown = page(admin_client, dataset="cran & field")
    assert "Measured by" in shown
    assert 'value="basic"' not in shown


def test_questions_that_got_worse_come_first_with_the_way_to_compare(
    admin_client: Client, questions: QuestionSet, version: IndexVersion
) -> None:
    before = run(questions, version, per_query={"birds": 1.0, "pumps": 0.5, "gone": 1.0})
    after = run(questions, version, comparison={"run": before.pk, "difference": 0, "p_value": 1})
    url = address(EvaluationRun, "change", after.pk)
    shown = text(admin_client.get(url))
    assert 'nDCG@10 <span class="">±0</span>: 1 question worse, 1 better, 0 as before' in shown
    assert shown.index("When do the birds return?") < shown.index("Who oils the pump?")
    assert '<span class="worse">-1.000</span>' in shown
    first = text(admin_client.get(address(EvaluationRun, "change", before.pk)))
    assert "There is no earlier run to compare with." in first
    assert "<code>gone</code>" in first


def test_the_page_costs_few_queries_however_many_runs(
    admin_client: Client,
    questions: QuestionSet,
    version: IndexVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    start_evaluation(questions, techniques.names())
    for _ in range(50):
        for name in techniques.names():
            run(questions, version, pipeline_name=name)
    with django_assert_max_num_queries(25):
        page(admin_client)


def test_without_anything_the_page_says_how_to_begin(admin_client: Client) -> None:
    assert "There is no question set yet." in page(admin_client)
    assert "There is no question set yet." in page(admin_client, set="7")


def test_viewers_look_and_start_nothing(client: Client, questions: QuestionSet) -> None:
    job = start_evaluation(questions, ["basic"])
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(reverse("admin:tools_evaluationrun_evaluate")).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="view_evaluationrun"))
    client.force_login(User.objects.get(pk=viewer.pk))
    shown = page(client)
    assert "needs the permission to change pipelines" in shown
    assert "Cancel" not in shown
    assert send(client, set=questions.pk, pipelines="basic").status_code == 403
    assert send(client, cancel=job.pk).status_code == 403
