"""What corpora, documents, passages and index versions may be."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import ProtectedError

from tests.factories import make_corpus, make_document, make_pipeline, make_version
from tests.tools.models.refusals import database_refuses, model_refuses
from tools.models import Chunk, Corpus, Document, IndexVersion
from tools.models.corpora import DEFAULT_EMBEDDING_MODEL, DocumentStatus, VersionState

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", ["", "Demo", "a b", "-a", "1a", "a" * 65, "a/b"])
def test_slug_fits_into_an_address(slug: str) -> None:
    assert model_refuses(Corpus(slug=slug), "slug")
    if len(slug) < 65:
        database_refuses(Corpus(slug=slug), "corpus_slug_pattern")


def test_slug_is_unique() -> None:
    make_corpus(slug="papers")
    assert model_refuses(Corpus(slug="papers"), "slug")
    database_refuses(Corpus(slug="papers"))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("chunk_tokens", {"chunk_tokens": 31}),
        ("chunk_tokens", {"chunk_tokens": 513}),
        ("chunk_overlap", {"chunk_overlap": 129}),
        ("chunk_overlap", {"chunk_tokens": 64, "chunk_overlap": 33}),
        ("largest_loss", {"largest_loss": -0.1, "gate_dataset": "set"}),
        ("largest_loss", {"largest_loss": 1.1, "gate_dataset": "set"}),
        ("gate_dataset", {"largest_loss": 0.05}),
        ("embedding_model", {"embedding_model": ""}),
    ],
)
def test_cutting_and_gate_have_bounds(field: str, values: dict[str, Any]) -> None:
    assert model_refuses(Corpus(slug="papers", **values), field)


def test_a_corpus_needs_no_more_than_a_slug() -> None:
    corpus = make_corpus(slug="papers")
    assert (corpus.embedding_model, corpus.chunk_tokens, corpus.chunk_overlap) == (
        DEFAULT_EMBEDDING_MODEL,
        256,
        0,
    )
    assert corpus.largest_loss is None


def test_a_name_is_taken_once_within_a_corpus() -> None:
    corpus, other = make_corpus(), make_corpus()
    make_document(corpus, name="a.txt")
    make_document(other, name="a.txt")
    row = Document(
        corpus=corpus, name="a.txt", media_type="text/plain", digest="0" * 64, size=0, content=b""
    )
    database_refuses(row, "corpus_id" if _is_sqlite() else "document_name_unique")
    assert DocumentStatus(make_document(corpus).status) is DocumentStatus.PENDING


def test_passages_are_numbered_within_their_document() -> None:
    document = make_document(make_corpus(), chunks=["one", "two"])
    assert [chunk.text for chunk in document.chunks.all()] == ["one", "two"]
    database_refuses(Chunk(document=document, ordinal=1, text="again", tokens=1))


def test_a_corpus_has_one_active_version() -> None:
    # S0-053
    corpus = make_corpus()
    make_version(corpus, state=VersionState.ACTIVE)
    make_version(corpus, state=VersionState.RETIRED)
    make_version(make_corpus(), state=VersionState.ACTIVE)
    second = IndexVersion(corpus=corpus, number=3, state=VersionState.ACTIVE, embedding_model="m")
    database_refuses(second, "corpus_id" if _is_sqlite() else "one_active_version")
    twice = IndexVersion(corpus=corpus, number=1, embedding_model="m")
    database_refuses(twice, "number" if _is_sqlite() else "version_number_unique")


def test_a_corpus_takes_its_rows_with_it_unless_a_pipeline_needs_it() -> None:
    corpus = make_corpus()
    make_document(corpus, chunks=["one"])
    make_version(corpus)
    pipeline = make_pipeline(corpus=corpus)
    with pytest.raises(ProtectedError):
        corpus.delete()
    pipeline.delete()
    corpus.delete()
    for model in (Document, Chunk, IndexVersion):
        assert not model._default_manager.exists()


def _is_sqlite() -> bool:
    from django.db import connection

    return connection.vendor == "sqlite"
