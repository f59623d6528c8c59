"""Choosing what orders passages anew; whoever scores is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tests.openai_fixtures import breakers, clock, configured, server
from tests.openai_server import KEY, OpenAiServer
from tools.pipelines.blocks.late import (
    DEFAULT_RERANKER,
    EMBEDDED,
    CrossEncoderReranker,
    PyLateReranker,
    late_interaction_for,
    reranker_for,
)
from tools.pipelines.blocks.tokens import TokenFiles, open_tokens, token_encoder, write_tokens
from tools.pipelines.contracts import OpenIndex, Passage

__all__ = ["breakers", "clock", "configured", "server"]

TEXTS = [
    "Bread rises because yeast makes gas.",
    "The red fox sleeps by day and hunts at night.",
    "Ferries leave the northern quay at dawn.",
]
PASSAGES = [Passage(row, f"p{row}", "d", text) for row, text in enumerate(TEXTS)]

without_torch = pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed"
)


class Tokens:
    """The part of an open index that rerankers look at."""

    def __init__(self, tokens: TokenFiles) -> None:
        self.tokens = tokens


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenIndex:
    folder: Path = tmp_path_factory.mktemp("index") / "tokens"
    write_tokens(folder, token_encoder().encode_passages(TEXTS, [[], [], []]))
    return cast(OpenIndex, Tokens(open_tokens(folder)))


@without_torch
@pytest.mark.parametrize("model", [DEFAULT_RERANKER, EMBEDDED, "../no/such/model"])
@pytest.mark.parametrize("choose", [reranker_for, late_interaction_for])
def test_what_really_scores_is_named(
    index: OpenIndex, model: str, choose: Callable[[str, OpenIndex], Any]
) -> None:
    reranker = choose(model, index)
    assert (reranker.name, reranker.alone) == (EMBEDDED, False)
    found = reranker.scores("When do foxes hunt?", PASSAGES[::-1])
    assert found.dtype == np.float32
    assert found.argmax() == 1
    assert reranker.scores("When do foxes hunt?", []).shape == (0,)


def test_a_configured_endpoint_scores(
    index: OpenIndex, server: OpenAiServer, configured: Callable[..., None]
) -> None:
    configured(RERANK_URL=server.url, RERANK_API_KEY=KEY)
    reranker = reranker_for("judge", index)
    assert (reranker.name, reranker.alone) == ("judge", True)
    assert reranker.scores("red fox", PASSAGES, 20).argmax() == 1
    assert reranker_for(EMBEDDED, index).name == EMBEDDED


class Judge:
    """What sentence-transformers documents of a cross-encoder: one number per pair."""

    def predict(self, pairs: Sequence[tuple[str, str]], **options: Any) -> Any:
        assert options["show_progress_bar"] is False
        return np.array([len(set(a.split()) & set(b.split())) for a, b in pairs], np.float64)


class ColBert:
    """What PyLate documents of a model: one matrix of token vectors per text."""

    def encode(self, texts: list[str], *, is_query: bool, **options: Any) -> list[Any]:
        words = sorted({word for text in TEXTS for word in text.split()})
        return [np.eye(len(words))[[words.index(word) for word in text.split()]] for text in texts]


def test_a_cross_encoder_is_asked_for_pairs() -> None:
    reranker = CrossEncoderReranker("judge", Judge())
    assert reranker.scores("the red fox", PASSAGES).tolist() == [0, 2, 1]
    assert reranker.scores("the red fox", []).shape == (0,)


def test_a_colbert_model_scores_by_maxsim() -> None:
    reranker = PyLateReranker("colbert", ColBert())
    assert reranker.scores("red fox at", PASSAGES).tolist() == pytest.approx([0, 1, 1 / 3])
    assert reranker.scores("red fox at", []).shape == (0,)
