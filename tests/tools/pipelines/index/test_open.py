"""Index versions as queries open them."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pytest

from tests.indexes import corpus_of_texts, index_dir, opened
from tools.pipelines.contracts import IndexSpec
from tools.pipelines.index import layout
from tools.pipelines.index.open import MOST_OPEN_PER_CORPUS, IndexUnavailable, open_index
from tools.pipelines.index.passages import Passages, PassageWriter
from tools.selectors.specs import index_spec
from tools.services.corpora import build_index

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "index_dir")]

ONE = {"birds.txt": "Swallows fly south in autumn."}


def test_version_is_opened_once_for_all_queries(index_dir: Path) -> None:
    # S0-013 F0-15
    version = build_index(corpus_of_texts(texts=ONE))
    assert opened(version) is opened(version)
    assert opened(version).vectors is opened(version).vectors
    query = opened(version).embed_query("birds")
    assert opened(version).embed_query("birds") is query


def test_blocks_are_opened_again_after_a_close(index_dir: Path) -> None:
    index = opened(build_index(corpus_of_texts(texts=ONE)))
    assert len(index.lexical.search("swallows", 1)) == 1
    index.close()
    assert len(index.lexical.search("swallows", 1)) == 1
    assert len(index.vectors.search(index.embed_query("birds"), 1)) == 1


def test_old_versions_are_let_go(index_dir: Path) -> None:
    corpus = corpus_of_texts(texts=ONE)
    first = weakref.ref(opened(build_index(corpus)))
    for _ in range(MOST_OPEN_PER_CORPUS):
        opened(build_index(corpus, force=True)).vectors.search(np.zeros(384, np.float32), 1)
    assert first() is None


def test_missing_and_damaged_versions_are_told_by_name(index_dir: Path) -> None:
    version = build_index(corpus_of_texts(texts=ONE))
    spec = IndexSpec(**index_spec(version))
    with pytest.raises(IndexUnavailable, match="Version 7 of the index of library cannot be"):
        open_index(IndexSpec(**{**index_spec(version), "number": 7, "folder": "1/7"}))
    (layout.version_folder(spec.folder) / layout.META).write_text("{")
    with pytest.raises(IndexUnavailable, match="Version 1"):
        open_index(spec)


def test_passages_are_read_by_row_and_slice(tmp_path: Path) -> None:
    writer = PassageWriter(tmp_path)
    for name in ("a.txt", "b.txt"):
        writer.document(name, {"source": name, "page": 0})
        for number in range(2):
            writer.passage(f"{name}#{number}", f"Text {number} of {name}", "T", {"page": number})
    writer.close()
    passages = Passages(tmp_path)
    assert len(passages) == 4
    assert [passage.passage_id for passage in passages] == [
        "a.txt#0",
        "a.txt#1",
        "b.txt#0",
        "b.txt#1",
    ]
    assert passages[2].document == "b.txt"
    assert passages[3].metadata == {"source": "b.txt", "page": 1}
    assert [passage.row for passage in passages[1:3]] == [1, 2]
    with pytest.raises(IndexError):
        passages[4]
    assert passages.mask({"page": 1, "source": ["b.txt"]}).tolist() == [False, False, False, True]
