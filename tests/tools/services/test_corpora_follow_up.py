"""What is uploaded while an index version is being built: the next version holds it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client

from tests.indexes import corpus_of_texts, document, index_dir, nearest, opened
from tests.postgres_waiting import somebody_waits
from tests.processes import wait_until
from tests.tools.admin.pages import address, text
from tests.workers import celery_worker
from tools.models import Chunk, Corpus, Document, IndexVersion
from tools.pipelines.blocks.embedder import MINILM, EmbedderUnavailable
from tools.pipelines.index import layout, parts
from tools.pipelines.index.assemble import assemble
from tools.pipelines.reading import UnreadableDocument
from tools.services import index_assembly, index_entries, index_versions
from tools.services.corpora import (
    CorpusFault,
    add_document,
    another_follows,
    build_index,
    corpus_status,
    remove_corpora,
    remove_document,
    resume_indexes,
    start_index,
)
from tools.services.index_workers import IndexWorkers, index_workers

__all__ = ["index_dir"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url", "index_dir"),
]

BUILD_SECONDS = 120
PENGUINS = b"Penguins stay where they are."
TEA = b"Tea is drunk hot."


@pytest.fixture
def corpus(index_dir: Path) -> Corpus:
    return corpus_of_texts()


class Held:
    """A build that cannot end: one of its documents is kept from everybody who would read it."""

    def __init__(self, corpus: Corpus, name: str = "pumps.md") -> None:
        self._stack = ExitStack()
        self._document = document(corpus, name).pk
        lock = layout.document_lock(self._document)
        assert self._stack.enter_context(layout.only_one(lock))

    def let_go(self, version: IndexVersion) -> None:
        """Its message again, alone: a resumed build would list what is new."""
        self._stack.close()
        index_workers.ingest(version.pk, [self._document])


def active(corpus: Corpus) -> IndexVersion | None:
    return corpus.versions.filter(state="active").first()


def states(corpus: Corpus) -> list[tuple[int, str, bool]]:
    rows = corpus.versions.order_by("number")
    return list(rows.values_list("number", "state", "asked_again"))


def in_use(corpus: Corpus, number: int) -> bool:
    version = active(corpus)
    return version is not None and version.number == number


def asked_at_once(corpus: Corpus) -> list[int]:
    def ask(_: int) -> int:
        try:
            return start_index(Corpus.objects.get(pk=corpus.pk)).number
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(ask, range(4)))


def test_what_goes_in_during_a_build_is_found_in_the_next(
    index_dir: Path, tmp_path: Path, admin_client: Client
) -> None:
    corpus = corpus_of_texts()
    held = Held(corpus)
    with celery_worker(tmp_path / "log", 2, ("ingest",), INDEX_DIR=str(index_dir)):
        version = start_index(corpus)
        done = version.entries.filter(state="done")
        wait_until(lambda: done.count() == 2, BUILD_SECONDS, "all documents but one")
        assert not another_follows(corpus)
        add_document(corpus, "birds.txt", PENGUINS)
        add_document(corpus, "tea.txt", TEA)
        part = address(Corpus, "versions", corpus.pk)
        assert "2 documents wait for the next version; press Build index" in text(
            admin_client.get(part)
        )
        told = admin_client.post(
            address(Corpus, "build", corpus.pk), headers={"accept": "application/json"}
        )
        assert told.json() == {
            "told": "Index version 1 is being built; another follows with what has changed since."
        }
        assert asked_at_once(corpus) == [1, 1, 1, 1]
        assert "2 documents wait for the next version, which is begun when this one has ended" in (
            text(admin_client.get(part))
        )
        status = corpus_status(corpus)
        assert (status["building"]["waiting"], status["another_follows"]) == (2, True)
        held.let_go(version)
        wait_until(lambda: in_use(corpus, 2), BUILD_SECONDS, "the version that follows")
    assert states(corpus) == [(1, "retired", False), (2, "active", False)]
    assert corpus_status(corpus)["documents"]["pending"] == 0
    index = opened(corpus.versions.get(number=2))
    assert nearest(index, "what is drunk hot?") == "tea.txt"
    assert nearest(index, "where do penguins live?") == "birds.txt"
    assert not len(index.lexical.search("swallows", 1))


def test_asking_twice_without_a_change_builds_once(corpus: Corpus) -> None:
    version = start_index(corpus)
    assert start_index(corpus) == version
    assert not another_follows(corpus)
    assert build_index(corpus) == version
    assert states(corpus) == [(1, "active", False)]


def test_version_that_lists_its_documents_later_holds_them(corpus: Corpus) -> None:
    start_index(corpus)
    add_document(corpus, "tea.txt", TEA)
    start_index(corpus)
    assert not another_follows(corpus)
    assert build_index(corpus).done_documents == 4
    assert states(corpus) == [(1, "active", False)]


def meanwhile(monkeypatch: Any, act: Any) -> None:
    """Do something while `birds.txt` is being read for the first time."""
    made = parts.made_part
    acted: list[None] = []

    def made_then(settings: Any, source: Any, beat: Any) -> Any:
        if source.name == "birds.txt" and not acted:
            acted.append(None)
            act()
        return made(settings, source, beat)

    monkeypatch.setattr(index_entries, "made_part", made_then)


def test_build_here_gives_the_version_that_holds_everything(
    corpus: Corpus, monkeypatch: Any
) -> None:
    start_index(corpus)

    def replace() -> None:
        add_document(corpus, "birds.txt", PENGUINS)
        assert corpus_status(corpus)["building"]["waiting"] == 1

    meanwhile(monkeypatch, replace)
    version = build_index(corpus)
    assert (version.number, version.state) == (2, "active")
    assert nearest(opened(version), "penguins") == "birds.txt"


def test_other_settings_asked_for_during_a_build_are_those_of_the_next(
    corpus: Corpus, monkeypatch: Any
) -> None:
    def change() -> None:
        corpus.embedding_model = MINILM
        corpus.save()
        start_index(corpus)
        assert another_follows(corpus)

    meanwhile(monkeypatch, change)
    assert build_index(corpus).number == 1
    assert build_index(corpus).embedding_model == MINILM
    assert [number for number, *_ in states(corpus)] == [1, 2]


def test_document_deleted_while_it_is_read_leaves_the_build_alone(
    corpus: Corpus, monkeypatch: Any
) -> None:
    meanwhile(monkeypatch, lambda: remove_document(document(corpus, "birds.txt")))
    version = build_index(corpus)
    assert (version.state, version.done_documents) == ("active", 2)


@pytest.mark.on_database("postgresql")
@pytest.mark.parametrize("whole", [True, False])
def test_delete_waits_for_passages_that_are_being_written(
    corpus: Corpus, monkeypatch: Any, whole: bool
) -> None:
    version = start_index(corpus)
    index_versions.plan_version(version.pk)
    birds = document(corpus, "birds.txt")
    save = index_entries._save_chunks
    deleting: list[Future[None]] = []

    def delete() -> None:
        try:
            if whole:
                remove_corpora([Corpus.objects.get(pk=corpus.pk)])
            else:
                remove_document(document(corpus, "birds.txt"))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:

        def saved_during(*arguments: Any) -> None:
            deleting.append(pool.submit(delete))
            wait_until(somebody_waits, what="a delete that waits")
            save(*arguments)

        monkeypatch.setattr(index_entries, "_save_chunks", saved_during)
        index_versions.ingest_batch(version.pk, [birds.pk])
        deleting[0].result(BUILD_SECONDS)
    assert not Chunk.objects.exists()
    assert Document.objects.count() == (0 if whole else 2)


def test_corpus_deleted_while_its_index_is_put_together_leaves_no_files(
    corpus: Corpus, index_dir: Path, monkeypatch: Any
) -> None:
    build_index(corpus)
    version = start_index(corpus, force=True)
    number = corpus.pk

    def then_deleted(*arguments: Any) -> Any:
        made = assemble(*arguments)
        remove_corpora([Corpus.objects.get(pk=number)])
        return made

    monkeypatch.setattr(index_assembly, "assemble", then_deleted)
    index_versions.assemble(version.pk)
    index_versions.plan_version(version.pk)
    assert not (index_dir / str(number)).exists()


def test_content_that_fails_does_not_count_against_what_replaced_it(
    corpus: Corpus, monkeypatch: Any
) -> None:
    def replace() -> None:
        add_document(corpus, "birds.txt", PENGUINS)
        raise UnreadableDocument("It is damaged.")

    meanwhile(monkeypatch, replace)
    assert build_index(corpus).failed_documents == 1
    row = document(corpus, "birds.txt")
    assert (row.status, row.error) == ("pending", "")
    assert nearest(opened(build_index(corpus)), "penguins") == "birds.txt"


def test_title_given_while_a_document_is_read_stays(corpus: Corpus, monkeypatch: Any) -> None:
    def rename() -> None:
        content = bytes(document(corpus, "birds.txt").content)
        add_document(corpus, "birds.txt", content, title="Of swallows")

    meanwhile(monkeypatch, rename)
    build_index(corpus)
    assert document(corpus, "birds.txt").title == "Of swallows"
    build_index(corpus)
    assert document(corpus, "birds.txt").status == "ready"


def test_passages_are_there_again_when_old_content_comes_back(corpus: Corpus) -> None:
    build_index(corpus)
    before = bytes(document(corpus, "birds.txt").content)
    add_document(corpus, "birds.txt", b"%PDF-1.7 no", media_type="application/pdf")
    build_index(corpus)
    add_document(corpus, "birds.txt", before, media_type="text/plain")
    build_index(corpus)
    row = document(corpus, "birds.txt")
    assert (row.status, row.chunk_count) == ("ready", 1)
    assert Chunk.objects.filter(document=row).count() == 1


@pytest.mark.parametrize("step", ["open_next", "plan"])
def test_next_version_is_begun_although_its_worker_died_before(
    corpus: Corpus, index_dir: Path, tmp_path: Path, monkeypatch: Any, step: str
) -> None:
    def die(*arguments: Any) -> None:
        raise KeyboardInterrupt

    def ask() -> None:
        add_document(corpus, "birds.txt", PENGUINS)
        start_index(corpus)

    meanwhile(monkeypatch, ask)
    place: Any = index_versions if step == "open_next" else IndexWorkers
    with monkeypatch.context() as dying:
        dying.setattr(place, step, die)
        with pytest.raises(KeyboardInterrupt):
            build_index(corpus)
    assert in_use(corpus, 1)
    with celery_worker(tmp_path / "log", 1, ("ingest",), INDEX_DIR=str(index_dir)):
        late = datetime.now(UTC) + timedelta(minutes=5)
        assert resume_indexes(late) >= 1
        wait_until(lambda: in_use(corpus, 2), BUILD_SECONDS, "the version that follows")
    assert states(corpus) == [(1, "retired", False), (2, "active", False)]


def test_version_that_was_refused_is_followed(
    corpus: Corpus, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "birds in autumn"}\n')
    (tmp_path / "qrels.tsv").write_text("q\tbirds.txt\t1\n")
    corpus.gate_dataset, corpus.largest_loss = str(tmp_path), 0.01
    corpus.save()
    build_index(corpus)
    good = bytes(document(corpus, "birds.txt").content)
    add_document(corpus, "birds.txt", b"The engine of the lorry is heavy.")
    add_document(corpus, "copy.txt", b"Birds of all kinds leave in autumn.")

    def ask() -> None:
        add_document(corpus, "birds.txt", good)
        remove_document(document(corpus, "copy.txt"))
        add_document(corpus, "tea.txt", TEA)
        start_index(corpus)

    meanwhile(monkeypatch, ask)
    assert build_index(corpus).state == "refused"
    assert states(corpus)[-1] == (3, "building", False)
    assert build_index(corpus).state == "active"


def test_nothing_follows_a_version_that_has_no_model(corpus: Corpus, monkeypatch: Any) -> None:
    def ask() -> None:
        add_document(corpus, "tea.txt", TEA)
        start_index(corpus)
        raise EmbedderUnavailable("The model is away.")

    meanwhile(monkeypatch, ask)
    with pytest.raises(CorpusFault, match="The model is away"):
        build_index(corpus)
    assert states(corpus) == [(1, "failed", False)]
    assert resume_indexes() == 0


def test_ingest_waits_for_the_version_that_holds_its_documents(
    index_dir: Path, tmp_path: Path
) -> None:
    corpus = corpus_of_texts()
    held = Held(corpus)
    (tmp_path / "tea.txt").write_bytes(TEA)
    out = StringIO()
    with celery_worker(tmp_path / "log", 2, ("ingest",), INDEX_DIR=str(index_dir)):
        version = start_index(corpus)
        done = version.entries.filter(state="done")
        wait_until(lambda: done.count() == 2, BUILD_SECONDS, "all documents but one")

        def ingest() -> None:
            try:
                call_command("ingest", str(tmp_path / "tea.txt"), "--corpus=library", stdout=out)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(ingest)
            asked = corpus.versions.filter(asked_again=True)
            wait_until(asked.exists, 20, "a command that waits")
            held.let_go(version)
            running.result(BUILD_SECONDS)
    assert "Version 2 is active: 4 documents" in out.getvalue()
