"""The quality gate: an index version that finds less than the one in use is kept out of use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexes import corpus_of_texts, document, index_dir
from tests.judged import write_collection
from tools.models import Corpus, EvaluationRun, PipelineConfig
from tools.services.corpora import activate, add_document, build_index, remove_document
from tools.services.evaluate import gate, passes_gate
from tools.services.evaluation_corpus import document_name

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "index_dir")]

QUESTIONS = {"q1": "When do the birds return?", "q2": "Who oils the pump?"}
ANSWERS = "q1\tbirds.txt\t1\nq2\tpumps.md\t1\n"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Questions about the documents of the corpus itself."""
    folder = write_collection(tmp_path / "questions", {})
    (folder / "corpus.jsonl").unlink()
    lines = [f'{{"_id": "{name}", "text": "{text}"}}\n' for name, text in QUESTIONS.items()]
    (folder / "queries.jsonl").write_text("".join(lines))
    (folder / "qrels.tsv").write_text(ANSWERS)
    return folder


def gated(questions: Path, largest_loss: float = 0.1) -> Corpus:
    """A corpus in use whose gate looks at the questions."""
    corpus = corpus_of_texts(largest_loss=largest_loss, gate_dataset=str(questions))
    assert build_index(corpus).state == "active"
    return corpus


def worsen(corpus: Corpus) -> None:
    """Take away what one of the two questions needs."""
    remove_document(document(corpus, "birds.txt"))


def test_a_version_that_loses_too_much_is_refused(questions: Path) -> None:
    corpus = gated(questions)
    worsen(corpus)

    version = build_index(corpus)

    assert version.state == "refused"
    assert version.error == (
        "basic loses 0.5000 ndcg@10 on questions against version 1; at most 0.1 may be lost."
    )
    assert corpus.versions.get(state="active").number == 1


def test_a_version_that_loses_no_more_than_allowed_passes(questions: Path) -> None:
    corpus = gated(questions, largest_loss=0.5)
    worsen(corpus)

    version = build_index(corpus)

    assert (version.state, version.number) == ("active", 2)


def test_a_version_that_finds_as_much_passes(questions: Path) -> None:
    corpus = gated(questions, largest_loss=0.0)
    add_document(corpus, "clock.txt", b"The clock strikes every quarter of an hour.")

    assert build_index(corpus).state == "active"


def test_what_was_measured_is_kept_and_not_measured_again(questions: Path) -> None:
    corpus = gated(questions)
    worsen(corpus)
    version = build_index(corpus)

    kept = EvaluationRun.objects.values_list("version__number", "measures__ndcg@10")
    assert dict(kept) == {1: 1.0, 2: 0.5}
    result = gate(corpus, version)
    assert (result.passed, result.losses) == (False, {"basic": 0.5})
    assert EvaluationRun.objects.count() == 2


def test_every_pipeline_of_the_corpus_is_asked(questions: Path) -> None:
    corpus = gated(questions)
    for name in ("crag", "graphrag"):
        PipelineConfig(pipeline_name=name, corpus=corpus).save()
    worsen(corpus)

    version = build_index(corpus)

    result = gate(corpus, version)
    assert set(result.losses or {}) == {"crag", "graphrag"}
    assert not result.passed


def test_without_a_gate_nothing_is_measured(questions: Path) -> None:
    corpus = corpus_of_texts()
    build_index(corpus)
    worsen(corpus)

    assert build_index(corpus).state == "active"
    assert not EvaluationRun.objects.exists()


def test_a_gate_that_cannot_be_asked_lets_nothing_through(questions: Path) -> None:
    corpus = gated(questions)
    (questions / "qrels.tsv").unlink()
    worsen(corpus)

    version = build_index(corpus)

    assert version.state == "refused"
    assert version.error.startswith("The quality gate cannot be asked: qrels.tsv is missing")


def test_an_operator_can_switch_in_spite_of_the_gate(questions: Path) -> None:
    corpus = gated(questions)
    worsen(corpus)
    version = build_index(corpus)

    assert passes_gate(version) is not None
    activate(version, force=True)

    version.refresh_from_db()
    assert version.state == "active"


@pytest.mark.parametrize(
    ("document_id", "name"),
    [
        ("MED-10", "MED-10"),
        ("a/b", "a%2Fb"),
        ("../x", "%2E%2E%2Fx"),
        ("a\\b", "a%5Cb"),
        ("naïve", "na%C3%AFve"),
        ("50%", "50%25"),
    ],
)
def test_ids_become_names_that_mean_nothing_to_paths(document_id: str, name: str) -> None:
    assert document_name(document_id) == name
