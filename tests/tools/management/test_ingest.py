"""`manage.py ingest`."""

from __future__ import annotations

import zipfile
from io import StringIO
from pathlib import Path

import docx.document
import pytest
from django.core.management import CommandError, call_command

from tests.indexes import TEXTS, index_dir, nearest, opened
from tests.tools.pipelines.reading.files import make_docx, make_pdf
from tests.workers import celery_worker
from tools.models import Corpus, Document, IndexVersion

__all__ = ["index_dir"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url", "index_dir"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "library"
    (made / "sub").mkdir(parents=True)
    (made / "pumps.md").write_text(TEXTS["pumps.md"])
    (made / "sub" / "birds.txt").write_text(TEXTS["birds.txt"])
    (made / ".hidden.txt").write_text("Nobody reads this.")
    return made


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("ingest", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def word(made: docx.document.Document) -> None:
    made.add_heading("Manual", 1)
    made.add_paragraph("Tea is brewed in hot water.")


def test_folder_becomes_an_active_index(folder: Path) -> None:
    told = run(str(folder), "--corpus", "library", "--create", "--title", "Library", "--in-process")
    assert told.splitlines()[0] == "Documents: 2 added"
    assert "Version 1 is active: 2 documents, 2 passages, ibm-granite" in told
    assert Corpus.objects.get().title == "Library"
    names = set(Document.objects.values_list("name", flat=True))
    assert names == {"pumps.md", "sub/birds.txt"}
    again = run(str(folder), "--corpus", "library", "--in-process")
    assert again.splitlines()[0] == "Documents: 2 unchanged"
    assert "Version 1 is active" in again


def test_every_format_is_ingested(folder: Path) -> None:
    (folder / "birds.pdf").write_bytes(make_pdf(["Penguins live on the ice of the south."]))
    (folder / "tea.docx").write_bytes(make_docx(word))
    (folder / "moon.html").write_text("<html><body><p>The moon is far away.</p></body></html>")
    (folder / "prices.csv").write_text("fruit,price\napple,3\nquince,12\n")
    (folder / "people.jsonl").write_text('{"title": "Ada", "text": "Ada wrote the first program."}')
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("inside/ships.txt", "Ships cross the sea.")
    told = run(str(folder), "--corpus", "library", "--create", "--in-process")
    assert told.splitlines()[0] == "Documents: 8 added"
    index = opened(IndexVersion.objects.get(state="active"))
    assert {
        nearest(index, query)
        for query in ("penguins", "brewing tea", "the moon", "quince price", "Ada", "ships")
    } == {
        "birds.pdf",
        "tea.docx",
        "moon.html",
        "prices.csv",
        "people.jsonl",
        "inside/ships.txt",
    }
    ada = next(index.passage(row) for row in range(len(index)) if "Ada" in index.passage(row).text)
    assert ada.indexed_text == "Ada\nAda wrote the first program."
    penguins = index.passage(int(index.lexical.search("penguins", 1).rows[0]))
    assert penguins.metadata["page"] == 1


def test_what_fails_is_named_and_the_rest_is_ingested(folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    (folder / "image.png").write_bytes(b"\x89PNG" + bytes(64))
    out = StringIO()
    with pytest.raises(CommandError, match=r"2 could not be ingested\."):
        call_command(
            *("ingest", str(folder), "--corpus", "library", "--create", "--in-process"),
            stdout=out,
            stderr=out,
        )
    told = out.getvalue()
    assert "Documents: 3 added, 1 refused" in told
    assert "image.png: This is an image." in told
    assert "broken.pdf: " in told
    assert IndexVersion.objects.get().state == "active"


def test_prune_removes_what_is_not_among_the_files(folder: Path) -> None:
    run(str(folder), "--corpus", "library", "--create", "--in-process")
    (folder / "pumps.md").unlink()
    assert "1 unchanged\n" in run(str(folder), "--corpus", "library", "--in-process")
    assert Document.objects.count() == 2
    told = run(str(folder), "--corpus", "library", "--in-process", "--prune")
    assert told.splitlines()[0] == "Documents: 1 unchanged, 1 removed"
    assert "Version 2 is active: 1 documents" in told


def test_model_can_be_changed(folder: Path) -> None:
    run(str(folder), "--corpus", "library", "--create", "--in-process")
    told = run("--corpus", "library", "--in-process", "--embedding-model", "minilm")
    assert "Version 2 is active: 2 documents, 2 passages, sentence-transformers/all-MiniLM" in told


def test_missing_corpus_and_path_are_told(folder: Path) -> None:
    with pytest.raises(CommandError, match="There is no corpus library; known: none"):
        run(str(folder), "--corpus", "library")
    with pytest.raises(CommandError, match="does not exist"):
        run(str(folder / "nowhere"), "--corpus", "library", "--create")
    with pytest.raises(CommandError, match="lower-case"):
        run(str(folder), "--corpus", "Not A Slug", "--create")


def test_workers_build_what_the_command_sends(
    folder: Path, index_dir: Path, tmp_path: Path
) -> None:
    sent = run(str(folder), "--corpus", "library", "--create", "--no-wait")
    assert sent.splitlines()[1] == "Version 1 is being built by the workers."
    with celery_worker(tmp_path / "log", 1, ("ingest",), INDEX_DIR=str(index_dir)):
        assert "Version 1 is active: 2 documents" in run(str(folder), "--corpus", "library")
