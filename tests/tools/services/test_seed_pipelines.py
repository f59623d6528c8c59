"""The demo corpus and its pipelines: created once, and left to the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factories import make_corpus, make_pipeline, make_tool
from tools.models import Corpus, Document, IndexVersion, PipelineConfig, QuestionSet, Tool
from tools.models.corpora import VersionState
from tools.services.corpora import build_index, remove_document
from tools.services.demo_corpus import QUESTIONS, demo_files, demo_state, fill_demo
from tools.services.question_sets import unknown_documents
from tools.services.seed_demo import seed_demo
from tools.services.seed_pipelines import DEMO_CORPUS, SEEDED, seed_pipelines
from tools.techniques import input_schema, techniques

pytestmark = pytest.mark.django_db

PROJECT = Path(__file__).resolve().parents[3]
CONTRACT = (*SEEDED, "health_check", "metrics")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two articles and a page of documentation."""
    articles = tmp_path / "examples" / "corpus"
    articles.mkdir(parents=True)
    (articles / "otters.md").write_text("# Otters\n\nOtters hold hands while they sleep.\n")
    (articles / "kelp.md").write_text("# Kelp\n\nKelp grows half a metre a day.\n")
    (articles / "notes.bak").write_text("not a document")
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    (tmp_path / "docs" / "how-to" / "keys.md").write_text("# Keys\n\nIssue one per agent.\n")
    return tmp_path


def test_first_start_offers_the_eight_tools_of_the_contract() -> None:
    # F0-01 F0-02 S0-054 S0-083
    created = seed_demo(servers=False).created
    assert f"corpus {DEMO_CORPUS}" in created
    assert {f"rag_{name}" for name in CONTRACT} == set(
        Tool.objects.filter(name__startswith="rag_").values_list("name", flat=True)
    )
    for row in PipelineConfig.objects.select_related("tool", "corpus"):
        technique = techniques.get(row.pipeline_name)
        assert technique is not None
        assert row.corpus.slug == DEMO_CORPUS
        assert row.tool.input_schema == input_schema(technique, {})
        assert row.default_parameters["top_k"] == technique.parameters(query="?").top_k
    assert not Document.objects.exists()


def test_second_start_changes_nothing_of_the_operators() -> None:
    seed_pipelines()
    row = PipelineConfig.objects.get(pipeline_name="basic")
    row.corpus, row.timeout_seconds = make_corpus(slug="handbook"), 7
    row.save()
    PipelineConfig.objects.get(pipeline_name="crag").delete()
    before = list(PipelineConfig.objects.values())
    assert seed_pipelines() == ([], [])
    assert list(PipelineConfig.objects.values()) == before
    assert not Tool.objects.filter(name="rag_crag").exists()


def test_an_operator_with_pipelines_gets_no_demo() -> None:
    make_pipeline()
    assert seed_pipelines() == ([], [])
    assert not Corpus.objects.filter(slug=DEMO_CORPUS).exists()


def test_a_taken_name_is_told_and_the_others_are_created() -> None:
    make_tool(name="rag_basic")
    created, skipped = seed_pipelines()
    assert "pipeline crag" in created
    assert [line.split(":")[0] for line in skipped] == ["pipeline basic"]


def test_demo_is_the_projects_own_articles_and_pages() -> None:
    names = [name for name, _ in demo_files(PROJECT)]
    assert "docs/tutorial/first-tool-call.md" in names
    # Its answers are to come from what the reader uploads.
    assert "docs/tutorial/first-morning-in-the-admin.md" not in names
    assert sum(name.startswith("articles/") for name in names) >= 24
    assert len(set(names)) == len(names)


def test_demo_is_filled_and_indexed_once(project: Path) -> None:
    seed_pipelines()
    version = fill_demo(project)
    assert version is not None
    state = demo_state(version)
    assert (state.documents, state.state) == (3, VersionState.BUILDING)
    build_index(Corpus.objects.get())
    assert demo_state(version).state is VersionState.ACTIVE
    assert demo_state(version).passages == 3
    assert set(Document.objects.values_list("name", flat=True)) == {
        "articles/kelp.md",
        "articles/otters.md",
        "docs/how-to/keys.md",
    }
    # Nothing has changed: the version in use is the one to use.
    assert fill_demo(project) == version
    assert IndexVersion.objects.count() == 1


def test_changed_files_are_renewed_and_removed_documents_stay_away(project: Path) -> None:
    seed_pipelines()
    first = fill_demo(project)
    corpus = Corpus.objects.get()
    build_index(corpus)
    remove_document(Document.objects.get(name="articles/kelp.md"))
    (project / "examples" / "corpus" / "otters.md").write_text("# Otters\n\nThey use stones.\n")
    second = fill_demo(project)
    assert second not in {None, first}
    build_index(corpus)
    assert corpus.versions.get(state=VersionState.ACTIVE).pk == second
    assert sorted(Document.objects.values_list("name", flat=True)) == [
        "articles/otters.md",
        "docs/how-to/keys.md",
    ]
    assert b"stones" in bytes(Document.objects.get(name="articles/otters.md").content)


def test_pipelines_can_be_measured_on_the_demo_at_once() -> None:
    seed_pipelines()
    fill_demo(PROJECT)
    asked = QuestionSet.objects.get()
    assert asked.corpus.slug == DEMO_CORPUS
    assert asked.questions.count() >= 20
    assert unknown_documents(asked) == []
    # Who does without them is not given them again.
    asked.delete()
    fill_demo(PROJECT)
    assert not QuestionSet.objects.exists()


def test_a_set_of_questions_with_the_name_of_the_demos_is_left_alone(project: Path) -> None:
    seed_pipelines()
    (project / QUESTIONS).write_text(
        '[{"question": "Who holds hands?", "articles": ["otters.md"]}]'
    )
    own = QuestionSet.objects.create(name="demo", corpus=make_corpus(slug="own"))
    assert fill_demo(project) is not None
    assert QuestionSet.objects.get() == own
    assert not own.questions.exists()


def test_without_a_demo_corpus_there_is_nothing_to_fill(project: Path) -> None:
    assert fill_demo(project) is None
    make_corpus(slug=DEMO_CORPUS)
    assert fill_demo(project / "nowhere") is None
