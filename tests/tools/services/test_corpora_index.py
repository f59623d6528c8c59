"""Index versions: built from parts, switched in one step, kept for a roll-back."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.indexes import TEXTS, corpus_of_texts, document, index_dir, nearest, opened
from tests.trail import became, trail_of
from tools.models import CatalogState, Chunk, Corpus, IndexEntry, IndexVersion
from tools.pipelines.blocks.embedder import GRANITE, MINILM
from tools.pipelines.contracts import IndexSpec
from tools.pipelines.index import layout
from tools.pipelines.index.open import IndexUnavailable, close_indexes, open_index
from tools.selectors.specs import active_indexes, index_spec
from tools.services import index_assembly, index_entries, index_versions
from tools.services.corpora import (
    CorpusFault,
    activate,
    add_document,
    build_index,
    corpus_status,
    remove_corpora,
    remove_document,
    resume_indexes,
    roll_back,
    start_index,
)
from tools.services.index_switch import GateRefused, sweep_parts

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "index_dir")]


@pytest.fixture
def corpus(index_dir: Path) -> Corpus:
    return corpus_of_texts()


def parts() -> dict[str, int]:
    """The parts there are, and when each was written."""
    return {path.stem: path.stat().st_mtime_ns for path in layout.parts_folder().rglob("*.npz")}


def test_built_index_answers_by_meaning_and_by_words(corpus: Corpus) -> None:
    version = build_index(corpus)
    assert (version.state, version.number, version.done_documents) == ("active", 1, 3)
    index = opened(version)
    assert len(index) == version.chunks == 3
    assert nearest(index, "when do the birds return?") == "birds.txt"
    words = index.lexical.search("flour dough", 3)
    assert [index.passage(int(row)).document for row in words.rows] == ["bread.txt"]
    passage = next(index.passage(row) for row in range(3) if index.passage(row).title == "Pumps")
    assert (passage.passage_id, passage.document) == ("pumps.md#0", "pumps.md")
    assert passage.metadata == {"source": "pumps.md", "title": "Pumps"}
    assert index.sentences.sentences(passage.row)[-1] == "It is oiled every Monday."
    rows = np.arange(3)
    asked = index.tokens.interact("Where does the pump move water?", rows)
    assert int(asked.scores.argmax()) == passage.row
    assert index.communities.levels >= 1
    assert len(index.graph.walk("the pump", words, depth=1, count=3).found) >= 0


def test_build_writes_down_what_became_of_documents(corpus: Corpus) -> None:
    version = build_index(corpus)
    row = document(corpus, "pumps.md")
    assert (row.status, row.title, row.chunk_count, row.error) == ("ready", "Pumps", 1, "")
    assert Chunk.objects.get(document=row).text.startswith("The pump moves water")
    assert version.chunking == {"tokens": 256, "overlap": 0, "revision": 1}
    assert (version.embedding_model, version.statistics["dimensions"]) == (GRANITE, 384)
    assert version.store == ("postgresql" if connection.vendor == "postgresql" else "files")
    status = corpus_status(corpus)
    assert status["documents"]["ready"] == 3
    assert status["active"]["number"] == 1
    assert status["building"] is None


def test_nothing_new_gives_the_version_in_use(corpus: Corpus) -> None:
    first = build_index(corpus)
    before = parts()
    assert build_index(corpus) == first
    assert start_index(corpus) == first
    again = build_index(corpus, force=True)
    assert (again.number, again.state) == (2, "active")
    assert parts() == before


def test_only_what_changed_is_embedded_again(corpus: Corpus) -> None:
    build_index(corpus)
    before = parts()
    add_document(corpus, "birds.txt", b"Penguins stay where they are.")
    add_document(corpus, "bread copy.txt", TEXTS["bread.txt"].encode())
    version = build_index(corpus)
    assert len(parts().items() - before.items()) == 1
    assert parts().items() >= before.items()
    index = opened(version)
    names = {index.passage(row).document for row in range(len(index))}
    assert names == {"pumps.md", "birds.txt", "bread.txt"}
    assert nearest(index, "penguins") == "birds.txt"
    assert index.passage(int(index.lexical.search("penguins", 1).rows[0])).text.startswith("Peng")
    assert not len(index.lexical.search("swallows", 1))


def test_removed_document_is_not_found_in_the_next_version(corpus: Corpus) -> None:
    old = opened(build_index(corpus))
    remove_document(document(corpus, "birds.txt"))
    assert nearest(old, "birds") == "birds.txt"
    version = build_index(corpus)
    assert version.number == 2
    assert nearest(opened(version), "birds") != "birds.txt"


def test_corpus_that_was_emptied_has_an_empty_index(corpus: Corpus) -> None:
    build_index(corpus)
    for name in TEXTS:
        remove_document(document(corpus, name))
    version = build_index(corpus)
    assert (version.state, version.chunks) == ("active", 0)
    index = opened(version)
    assert len(index.vectors.search(index.embed_query("birds"), 5)) == 0
    assert len(index.lexical.search("birds", 5)) == 0


def test_corpus_without_documents_is_not_indexed() -> None:
    with pytest.raises(CorpusFault, match="library has no documents"):
        start_index(corpus_of_texts(texts={}))


def test_document_that_cannot_be_read_does_not_stop_the_rest(corpus: Corpus) -> None:
    add_document(corpus, "broken.pdf", b"%PDF-1.7\nthis is not a PDF file at all")
    version = build_index(corpus)
    assert (version.state, version.done_documents, version.failed_documents) == ("active", 3, 1)
    row = document(corpus, "broken.pdf")
    assert row.status == "failed"
    assert row.error
    assert corpus_status(corpus)["errors"] == [{"document": "broken.pdf", "error": row.error}]
    assert build_index(corpus) == version


def test_version_of_which_nothing_can_be_read_is_not_switched_to(index_dir: Path) -> None:
    corpus = corpus_of_texts(texts={"a.pdf": "%PDF-1.7 no"})
    version = build_index(corpus)
    assert (version.state, version.error) == ("failed", "None of the documents could be read.")
    assert active_indexes() == {}


def test_switch_leaves_readers_of_the_old_version_alone(corpus: Corpus) -> None:
    # S0-083
    first = build_index(corpus)
    spec = IndexSpec(**index_spec(first))
    reader = open_index(spec)
    before = CatalogState.objects.get().version
    add_document(corpus, "birds.txt", b"Penguins stay where they are.")
    second = build_index(corpus)
    assert active_indexes()[corpus.pk]["number"] == 2
    assert CatalogState.objects.get().version > before
    assert nearest(reader, "swallows in autumn") == "birds.txt"
    close_indexes()
    assert open_index(spec).passage(0).text.startswith("Swallows")
    assert opened(second).passage(0).text.startswith("Penguins")
    first.refresh_from_db()
    assert first.state == "retired"


def test_roll_back_returns_to_the_version_before(corpus: Corpus) -> None:
    first = build_index(corpus)
    with pytest.raises(CorpusFault, match="no earlier version"):
        roll_back(corpus)
    add_document(corpus, "birds.txt", b"Penguins stay where they are.")
    second = build_index(corpus)
    assert roll_back(corpus) == first
    assert active_indexes()[corpus.pk]["number"] == 1
    assert [
        became(one, "index version") for one in trail_of(corpus) if one.action == "switched"
    ] == [
        (None, 1),
        (1, 2),
        (2, 1),
    ]
    activate(second)
    assert active_indexes()[corpus.pk]["number"] == 2


def test_only_the_last_version_before_is_kept(corpus: Corpus, index_dir: Path) -> None:
    first = build_index(corpus)
    old = IndexEntry.objects.get(version=first, document__name="birds.txt").part
    for number in range(3):
        add_document(corpus, "birds.txt", f"Bird number {number} sings.".encode())
        build_index(corpus)
    folders = {path.name for path in (index_dir / str(corpus.pk)).iterdir() if path.is_dir()}
    assert folders == {"3", "4"}
    assert old in parts()
    sweep_parts(timedelta(0))
    assert old not in parts()
    assert len(parts()) == 4
    first.refresh_from_db()
    with pytest.raises(CorpusFault, match="files of version 1 were removed"):
        activate(first)


def test_removed_corpus_leaves_no_files(
    corpus: Corpus,
    index_dir: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    build_index(corpus)
    pk = corpus.pk
    with django_capture_on_commit_callbacks(execute=True):
        remove_corpora([corpus])
    assert not (index_dir / str(pk)).exists()
    sweep_parts(timedelta(0))
    assert parts() == {}


def test_other_model_makes_other_vectors_and_never_mixes(corpus: Corpus) -> None:
    first = build_index(corpus)
    granite = parts()
    corpus.embedding_model = MINILM
    corpus.save()
    add_document(corpus, "tea.txt", b"Tea is drunk hot.")
    second = build_index(corpus)
    assert (first.embedding_model, second.embedding_model) == (GRANITE, MINILM)
    assert len(parts().keys() - granite.keys()) == 4
    old, new = opened(first), opened(second)
    assert abs(float(old.vectors.vectors(np.array([0]))[0] @ new.embed_query("tea"))) < 0.9
    with pytest.raises(IndexUnavailable, match="another model"):
        open_index(IndexSpec(**{**index_spec(second), "embedding_model": GRANITE, "version_id": 0}))


def test_other_chunking_makes_other_passages(index_dir: Path) -> None:
    text = " ".join(f"Sentence number {number} is about water." for number in range(30))
    corpus = corpus_of_texts(texts={"long.txt": text})
    first = build_index(corpus)
    corpus.chunk_tokens = 64
    corpus.save()
    second = build_index(corpus)
    assert second.chunks > first.chunks
    assert document(corpus, "long.txt").chunk_count == second.chunks
    assert Chunk.objects.filter(document__corpus=corpus).count() == second.chunks


def test_damaged_and_lost_parts_are_made_anew(corpus: Corpus, index_dir: Path) -> None:
    first = build_index(corpus)
    kept = sorted(layout.parts_folder().rglob("*.npz"))
    kept[0].unlink()
    content = bytearray(kept[1].read_bytes())
    content[len(content) // 2] ^= 0xFF
    kept[1].write_bytes(content)
    version = build_index(corpus, force=True)
    assert (version.state, version.chunks, version.done_documents) == ("active", first.chunks, 3)
    assert sorted(layout.parts_folder().rglob("*.npz")) == kept


def test_part_lost_before_the_assembly_is_made_again(corpus: Corpus, monkeypatch: Any) -> None:
    assemble = index_assembly.assemble_version
    lost: list[Path] = []

    def lose_one_first(*arguments: Any) -> bool:
        if not lost:
            lost.append(next(layout.parts_folder().rglob("*.npz")))
            lost[0].unlink()
        return assemble(*arguments)

    monkeypatch.setattr(index_versions, "assemble_version", lose_one_first)
    version = build_index(corpus)
    assert (version.state, version.done_documents, version.chunks) == ("active", 3, 3)
    assert lost[0].exists()


def test_build_that_was_cut_short_goes_on(corpus: Corpus, monkeypatch: Any) -> None:
    ingest = index_entries.ingest_document
    seen: list[int] = []

    def die_at_the_third(version: IndexVersion, document_id: int, beat: Any) -> bool:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(document_id)
        return ingest(version, document_id, beat)

    monkeypatch.setattr(index_versions, "ingest_document", die_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        build_index(corpus)
    monkeypatch.setattr(index_versions, "ingest_document", ingest)
    status = corpus_status(corpus)
    assert (status["building"]["done"], status["building"]["total"]) == (2, 3)
    assert active_indexes() == {}
    before = parts()
    version = build_index(corpus)
    assert (version.number, version.state, version.done_documents) == (1, "active", 3)
    assert parts().items() >= before.items()


def test_folder_written_by_a_process_that_died_is_used(corpus: Corpus, monkeypatch: Any) -> None:
    version = build_index(corpus)
    written = layout.version_folder(f"{corpus.pk}/1") / layout.META
    before = written.stat().st_mtime_ns
    IndexVersion.objects.filter(pk=version.pk).update(state="building", activated_at=None)
    assert build_index(corpus).state == "active"
    assert written.stat().st_mtime_ns == before


def test_files_of_another_database_are_not_taken_for_ours(corpus: Corpus, index_dir: Path) -> None:
    other = corpus_of_texts("other", {"tea.txt": "Tea is drunk hot."})
    build_index(other)
    shutil.copytree(index_dir / str(other.pk), index_dir / str(corpus.pk))
    index = opened(build_index(corpus))
    assert {index.passage(row).document for row in range(len(index))} == set(TEXTS)


def test_document_that_kills_its_worker_is_given_up(corpus: Corpus) -> None:
    version = start_index(corpus)
    entry = IndexEntry.objects.create(version=version, document=document(corpus, "birds.txt"))
    IndexEntry.objects.filter(pk=entry.pk).update(attempts=3)
    build_index(corpus)
    row = document(corpus, "birds.txt")
    assert (row.status, row.error) == ("failed", "Reading it ended the worker several times.")


def test_version_that_loses_quality_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    build_index(corpus)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "birds in autumn"}\n')
    (tmp_path / "qrels.tsv").write_text("q\tbirds.txt\t1\n")
    corpus.gate_dataset, corpus.largest_loss = str(tmp_path), 0.01
    corpus.save()
    add_document(corpus, "tea.txt", b"Tea is drunk hot.")
    assert build_index(corpus).state == "active"
    add_document(corpus, "birds.txt", b"The engine of the lorry is heavy.")
    add_document(corpus, "copy.txt", b"Birds of all kinds leave in autumn.")
    version = build_index(corpus)
    assert version.state == "refused"
    assert "loses" in version.error
    assert active_indexes()[corpus.pk]["number"] == 2
    with pytest.raises(GateRefused):
        activate(version)
    activate(version, force=True)
    assert active_indexes()[corpus.pk]["number"] == 3


def test_metadata_chooses_rows(corpus: Corpus) -> None:
    add_document(corpus, "tea.txt", b"Tea is drunk hot.", metadata={"year": 2020, "tags": ["x"]})
    add_document(corpus, "ale.txt", b"Ale is drunk cold.", metadata={"year": 2021})
    index = opened(build_index(corpus))

    def chosen(**wanted: Any) -> set[str]:
        return {index.passage(int(row)).document for row in np.flatnonzero(index.mask(wanted))}

    assert chosen(year=2020) == {"tea.txt"}
    assert chosen(year=[2020, 2021]) == {"tea.txt", "ale.txt"}
    assert chosen(tags="x", year=2020) == {"tea.txt"}
    assert chosen(source="bread.txt") == {"bread.txt"}
    assert chosen(year=1999) == set()
    found = index.vectors.search(index.embed_query("birds"), 5, index.mask({"year": 2021}))
    assert [index.passage(int(row)).document for row in found.rows] == ["ale.txt"]


def test_build_that_waits_for_another_is_left_waiting(corpus: Corpus) -> None:
    waiting, moving = start_index(corpus), start_index(corpus_of_texts("other"))
    old = datetime.now(UTC) - timedelta(hours=1)
    IndexVersion.objects.filter(pk=waiting.pk).update(touched_at=old)
    assert resume_indexes() == 0
    IndexVersion.objects.filter(pk=moving.pk).update(touched_at=old)
    assert resume_indexes() == 2
    assert resume_indexes() == 0


def test_version_that_was_overtaken_is_not_switched_to(corpus: Corpus) -> None:
    first = build_index(corpus)
    build_index(corpus, force=True)
    IndexVersion.objects.filter(pk=first.pk).update(state="ready", activated_at=None)
    index_versions.assemble(first.pk)
    assert active_indexes()[corpus.pk]["number"] == 2
    first.refresh_from_db()
    assert first.state == "retired"
