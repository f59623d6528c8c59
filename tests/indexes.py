"""Corpora and index versions for tests, in a folder of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.conf import deployment
from tools.models import Corpus, Document, IndexVersion
from tools.pipelines.contracts import IndexSpec
from tools.pipelines.index.open import FolderIndex, close_indexes, open_index
from tools.selectors.specs import index_spec
from tools.services.corpora import add_document

TEXTS = {
    "pumps.md": "# Pumps\n\nThe pump moves water to the upper tank. It is oiled every Monday.",
    "birds.txt": "Swallows fly south in autumn. They come back in April.",
    "bread.txt": "Bread is baked from flour, water and salt. The dough rests for an hour.",
}


@pytest.fixture
def index_dir(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """The folder of all indexes, empty, for this test alone."""
    folder = tmp_path / "indexes"
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "INDEX_DIR": str(folder)}
    deployment.cache_clear()
    yield folder
    close_indexes()
    deployment.cache_clear()


def corpus_of_texts(
    slug: str = "library", texts: dict[str, str] | None = None, **fields: Any
) -> Corpus:
    """A corpus with a few short documents, not indexed yet."""
    corpus = Corpus(slug=slug, **fields)
    corpus.save()
    for name, text in (TEXTS if texts is None else texts).items():
        add_document(corpus, name, text.encode())
    return corpus


def opened(version: IndexVersion) -> FolderIndex:
    """The version as queries open it."""
    return open_index(IndexSpec(**index_spec(version)))


def nearest(index: FolderIndex, query: str) -> str:
    """The name of the document that fits best."""
    found = index.vectors.search(index.embed_query(query), 1)
    return index.passage(int(found.rows[0])).document


def document(corpus: Corpus, name: str) -> Document:
    return Document.objects.get(corpus=corpus, name=name)
