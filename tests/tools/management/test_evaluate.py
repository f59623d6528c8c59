"""`manage.py evaluate`: a collection in, figures out, kept by pipeline and index version."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.indexes import corpus_of_texts, index_dir
from tests.judged import DOCUMENTS, write_collection
from tools.models import Corpus, Document, EvaluationRun, IndexVersion

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "index_dir")]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return write_collection(tmp_path / "Small set")


def evaluate(folder: Path, pipelines: str = "basic", **options: Any) -> str:
    """What the command prints."""
    out = io.StringIO()
    call_command(
        "evaluate",
        dataset=folder,
        pipelines=pipelines,
        stdout=out,
        stderr=options.pop("stderr", io.StringIO()),
        **options,
    )
    return out.getvalue()


def test_figures_are_printed_and_kept_by_pipeline_and_version(collection: Path) -> None:
    progress = io.StringIO()
    printed = evaluate(collection, "basic,basic_rerank", stderr=progress)

    corpus = Corpus.objects.get(slug="eval-small-set")
    version = IndexVersion.objects.get(corpus=corpus, state="active")
    runs = {run.pipeline_name: run for run in EvaluationRun.objects.all()}
    assert set(runs) == {"basic", "basic_rerank"}
    for run in runs.values():
        assert (run.version, run.dataset, run.queries) == (version, "Small set", 3)
        assert run.measures["ndcg@10"] == run.measures["recall@5"] == run.measures["mrr@10"] == 1
        assert run.per_query == {"q1": 1.0, "q2": 1.0, "q3": 1.0}
        assert 0 < run.measures["p50_ms"] <= run.measures["p95_ms"]
        assert run.comparison == {}
    assert runs["basic_rerank"].parameters["top_k"] == 10
    assert "Small set: 6 documents" in printed
    assert "3 judged queries" in printed
    table = [line.split() for line in printed.splitlines() if line.startswith("basic ")]
    assert table[0][1:6] == ["1.0000"] * 5
    assert "Embedding: " in progress.getvalue()


def test_a_second_run_embeds_nothing_and_uses_the_same_version(collection: Path) -> None:
    evaluate(collection)
    before = list(Document.objects.values_list("name", "updated_at"))
    progress = io.StringIO()

    evaluate(collection, stderr=progress)

    assert list(Document.objects.values_list("name", "updated_at")) == before
    assert IndexVersion.objects.count() == 1
    assert EvaluationRun.objects.count() == 2
    assert "Embedding" not in progress.getvalue()


def test_another_version_is_compared_with_the_one_before(collection: Path) -> None:
    evaluate(collection)
    mixed_up = {**DOCUMENTS, "bird 2": ("Granite", "Granite is a hard rock.")}
    write_collection(collection, mixed_up)

    printed = evaluate(collection)

    second, first = EvaluationRun.objects.all()
    versions = EvaluationRun.objects.values_list("version__number", flat=True)
    assert list(versions) == [2, 1]
    assert second.measures["ndcg@10"] < 1
    told = second.comparison
    assert (told["run"], told["version"], told["queries"]) == (first.pk, 1, 3)
    assert told["difference"] == pytest.approx(
        second.measures["ndcg@10"] - first.measures["ndcg@10"], abs=1e-5
    )
    assert (told["better"], told["worse"], told["p_value"]) == (0, 1, 1.0)
    assert "against version 1, p = 1.0000, 0 queries better, 1 worse" in printed


def test_documents_that_left_the_collection_leave_the_corpus(collection: Path) -> None:
    evaluate(collection)
    fewer = {name: text for name, text in DOCUMENTS.items() if name != "clock-6"}
    write_collection(collection, fewer)

    evaluate(collection, keep=True)
    assert Document.objects.filter(name="clock-6").exists()
    evaluate(collection)
    assert not Document.objects.filter(name="clock-6").exists()


def test_a_corpus_of_ones_own_keeps_its_documents(collection: Path) -> None:
    corpus_of_texts("library")

    evaluate(collection, corpus="library")

    assert Document.objects.filter(corpus__slug="library", name="pumps.md").exists()
    assert Document.objects.filter(corpus__slug="library", name="clock-6").exists()


def test_the_figures_can_be_written_to_a_file(collection: Path, tmp_path: Path) -> None:
    target = tmp_path / "figures.json"

    evaluate(collection, json=target)

    told = json.loads(target.read_text())
    assert told["corpus"] == "eval-small-set"
    assert told["pipelines"]["basic"]["measures"]["ndcg@10"] == 1
    assert told["left_out"] == ["empty-5"]


def test_all_pipelines_are_run_when_none_is_named(collection: Path) -> None:
    # F0-01
    evaluate(collection, "all")

    measured = EvaluationRun.objects.values_list("pipeline_name", flat=True)
    assert sorted(measured) == [
        "basic", "basic_rerank", "crag", "graphrag", "iris_global_graphrag", "pylate_colbert",
    ]  # fmt: skip
    assert all(run.measures["recall@100"] == 1 for run in EvaluationRun.objects.all())


@pytest.mark.parametrize(
    ("pipelines", "message"),
    [("basic,magic", "No pipeline magic; known are basic, "), (" , ", "at least one pipeline")],
)
def test_an_unknown_pipeline_is_refused_before_anything_is_ingested(
    collection: Path, pipelines: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        evaluate(collection, pipelines)

    assert not Corpus.objects.exists()


def test_a_collection_that_cannot_be_used_is_refused_with_the_place(collection: Path) -> None:
    (collection / "qrels.tsv").write_text("q1\tnowhere\t1\n")

    with pytest.raises(CommandError, match=r"qrels\.tsv line 1: no document 'nowhere'"):
        evaluate(collection)

    assert not Corpus.objects.exists()


def test_a_file_that_cannot_be_written_is_named(collection: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        evaluate(collection, json=tmp_path / "no" / "such" / "folder.json")
