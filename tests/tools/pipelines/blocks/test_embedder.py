"""Choosing an embedder by name, the vectors of queries that it remembers, and counting tokens."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from typing_extensions import override

from tools.pipelines.blocks.embedder import (
    DEFAULT_MODEL,
    GRANITE,
    KEPT_QUERIES,
    MINILM,
    CachedQueries,
    EmbedderUnavailable,
    Vectors,
    canonical,
    default_embedder,
    embedder,
    known_models,
    token_counter,
)


class Counting(CachedQueries):
    """An embedder of two dimensions that notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_names_stand_for_the_models_they_mean() -> None:
    assert DEFAULT_MODEL == canonical("") == canonical("granite") == GRANITE
    assert canonical("all-MiniLM-L6-v2") == canonical(" ALL-minilm-l6-V2 ") == MINILM
    assert canonical("granite-embedding-30m-english") == GRANITE
    assert canonical("intfloat/e5-small") == "intfloat/e5-small"
    assert [canonical(name) for name in known_models()] == list(known_models())


def test_each_model_is_loaded_once_and_says_what_it_is() -> None:
    for name in known_models():
        model = embedder(name)
        assert (model.model_id, model.dimensions) == (name, 384)
        assert embedder(name.partition("/")[2]) is model
    assert default_embedder() is embedder(MINILM)


@pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed"
)
def test_an_unknown_model_says_what_to_install() -> None:
    with pytest.raises(EmbedderUnavailable) as refused:
        embedder("intfloat/e5-small")
    assert "pip install sentence-transformers" in str(refused.value)
    assert GRANITE in str(refused.value)


def test_vectors_of_queries_are_kept_up_to_a_bound() -> None:
    model = Counting()
    first = model.embed_query("again")
    assert model.embed_query("again") is first
    assert model.asked == ["again"]
    for number in range(KEPT_QUERIES):
        model.embed_query(f"other {number}")
    model.embed_query("again")
    assert model.asked.count("again") == 2


def test_kept_vectors_cannot_be_spoilt_by_a_caller() -> None:
    vector = embedder(MINILM).embed_query("Who may write here?")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1
    assert np.array_equal(vector, embedder(MINILM).embed_query("Who may write here?"))


@pytest.mark.parametrize("name", [GRANITE, MINILM])
def test_the_vector_of_a_query_is_that_of_the_text(name: str) -> None:
    """Queries are computed in 8 bits, stored texts are not; they must still be comparable."""
    texts = [
        "Who may write here?",
        "redis",
        "What happens to a query whose worker dies while the answer is being written?",
        "Überweise 250 € an Anna Müller; naïve façade, 東京, привет",
        "a long question " * 60,
    ]
    stored = embedder(name).embed(texts)
    near = [
        float(embedder(name).embed_query(text) @ row)
        for text, row in zip(texts, stored, strict=True)
    ]
    assert min(near) > 0.999


def test_threads_share_one_model() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: embedder(GRANITE).embed_query("shared"), range(32)))
    for vector in found:
        assert vector @ found[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", known_models())
@pytest.mark.parametrize("text", ["", " \n\t", "\ud800", "\x00", "é" * 3000, "🚀🚀", "[CLS] <s>"])
def test_any_text_has_a_vector_of_length_one(name: str, text: str) -> None:
    vector = embedder(name).embed([text])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_tokens_are_counted_as_the_model_reads_them() -> None:
    assert token_counter(MINILM)("unaffable") == 3  # un, ##aff, ##able
    assert token_counter(GRANITE)(" the the") == 2
    assert token_counter(GRANITE)("") == 0
    # No window cuts the count.
    assert token_counter(MINILM)("word " * 1000) == 1000
    assert token_counter(GRANITE) is token_counter("granite")
