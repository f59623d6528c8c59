"""Documents into a corpus and out of it."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from tests.factories import make_corpus, make_pipeline
from tests.indexes import document
from tools.conf import deployment
from tools.models import Corpus, Document
from tools.services.corpora import (
    CorpusFault,
    Refused,
    add_document,
    add_upload,
    corpus_status,
    remove_corpora,
    remove_document,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return make_corpus(slug="library")


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return content.getvalue()


def test_document_is_added_then_unchanged_then_updated(corpus: Corpus) -> None:
    first = add_document(corpus, "notes/a.txt", b"One.", source="https://site.example/a")
    assert first.outcome == "added"
    assert (first.document.status, first.document.media_type) == ("pending", "text/plain")
    again = add_document(corpus, "notes/a.txt", b"One.")
    assert (again.outcome, again.document.pk) == ("unchanged", first.document.pk)
    changed = add_document(corpus, "notes/a.txt", b"Two.")
    assert (changed.outcome, changed.document.pk) == ("updated", first.document.pk)
    row = document(corpus, "notes/a.txt")
    assert (bytes(row.content), row.size, row.source) == (b"Two.", 4, "https://site.example/a")


def test_new_title_source_or_metadata_is_an_update(corpus: Corpus) -> None:
    add_document(corpus, "a.txt", b"One.", title="First", metadata={"year": 2020})
    assert add_document(corpus, "a.txt", b"One.").outcome == "unchanged"
    assert add_document(corpus, "a.txt", b"One.", title="Other").outcome == "updated"
    assert add_document(corpus, "a.txt", b"One.", metadata={"year": 2021}).outcome == "updated"
    assert document(corpus, "a.txt").metadata == {"year": 2021}


def test_name_stands_in_for_a_missing_source(corpus: Corpus) -> None:
    # S0-042
    assert add_document(corpus, "a.txt", b"One.").document.source == "a.txt"


def test_same_content_under_another_name_is_a_duplicate(corpus: Corpus) -> None:
    add_document(corpus, "a.txt", b"One.")
    copy = add_document(corpus, "b.txt", b"One.")
    assert copy.outcome == "duplicate"
    assert (copy.document.status, copy.document.error) == (
        "duplicate",
        "Has the same content as a.txt.",
    )
    other = make_corpus(slug="other")
    assert add_document(other, "b.txt", b"One.").outcome == "added"


@pytest.mark.parametrize("way", ["removed", "changed"])
def test_duplicate_takes_the_place_of_its_original(corpus: Corpus, way: str) -> None:
    original = add_document(corpus, "a.txt", b"One.").document
    add_document(corpus, "b.txt", b"One.")
    add_document(corpus, "c.txt", b"One.")
    if way == "removed":
        remove_document(original)
    else:
        add_document(corpus, "a.txt", b"Something else.")
    assert document(corpus, "b.txt").status == "pending"
    assert document(corpus, "c.txt").status == "duplicate"


def test_file_of_no_known_format_is_refused(corpus: Corpus) -> None:
    with pytest.raises(CorpusFault, match="This is an image"):
        add_document(corpus, "a.png", b"\x89PNG\r\n\x1a\n" + bytes(64))
    with pytest.raises(CorpusFault, match="empty"):
        add_document(corpus, "a.txt", b"")
    assert not Document.objects.exists()


def test_document_above_the_limit_is_refused(corpus: Corpus, settings: Any) -> None:
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "MAX_DOCUMENT_BYTES": 10}
    deployment.cache_clear()
    try:
        assert add_document(corpus, "a.txt", b"0123456789").outcome == "added"
        with pytest.raises(CorpusFault, match="It has 11 bytes; the largest document has 10"):
            add_document(corpus, "b.txt", b"0123456789!")
    finally:
        deployment.cache_clear()


@pytest.mark.parametrize("name", ["", "../a.txt", "a/../../b.txt", "a\0.txt", "x" * 501])
def test_bad_names_are_refused(corpus: Corpus, name: str) -> None:
    with pytest.raises(CorpusFault):
        add_document(corpus, name, b"One.")


def test_what_databases_cannot_keep_is_refused(corpus: Corpus) -> None:
    with pytest.raises(CorpusFault, match="Title"):
        add_document(corpus, "a.txt", b"One.", title="a\0b")
    with pytest.raises(CorpusFault, match=r"Metadata\.year must be a finite number"):
        add_document(corpus, "a.txt", b"One.", metadata={"year": float("nan")})


def test_archive_is_added_file_by_file(corpus: Corpus) -> None:
    content = zipped(a_txt=b"One.", sub__b_md=b"# Two", c_png=b"\x89PNG" + bytes(64), d_txt=b"One.")
    results = add_upload(corpus, "all.zip", content)
    told = {result.name: getattr(result, "outcome", "refused") for result in results}
    assert told == {
        "a.txt": "added",
        "sub/b.md": "added",
        "c.png": "refused",
        "d.txt": "duplicate",
    }
    refused = next(result for result in results if isinstance(result, Refused))
    assert refused.reason.startswith("This is an image")


def test_damaged_archive_is_refused_as_one(corpus: Corpus) -> None:
    results = add_upload(corpus, "all.zip", b"PK\x03\x04" + b"nothing of the kind" * 10)
    assert [type(result) for result in results] == [Refused]


def test_corpus_in_use_is_not_removed(corpus: Corpus) -> None:
    add_document(corpus, "a.txt", b"One.")
    pipeline = make_pipeline(corpus=corpus)
    with pytest.raises(CorpusFault, match="library is used by basic"):
        remove_corpora([corpus])
    pipeline.delete()
    remove_corpora([corpus])
    assert not Corpus.objects.filter(slug="library").exists()
    assert not Document.objects.exists()


def test_status_counts_documents(corpus: Corpus) -> None:
    add_document(corpus, "a.txt", b"One.")
    add_document(corpus, "b.txt", b"One.")
    status = corpus_status(corpus)
    assert status["documents"] == {
        "total": 2,
        "pending": 1,
        "ready": 0,
        "duplicate": 1,
        "failed": 0,
        "bytes": 8,
    }
    assert (status["active"], status["building"], status["versions"]) == (None, None, [])
