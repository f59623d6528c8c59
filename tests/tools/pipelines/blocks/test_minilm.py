"""The embedding model: as good as the original, and safe to share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.tools.pipelines.blocks.minilm_reference import REFERENCE, SENTENCES, cosines
from tools.pipelines.blocks.embedder import default_embedder
from tools.pipelines.blocks.minilm import MiniLm


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MiniLm:
    return MiniLm.load(tmp_path_factory.mktemp("models"))


def test_vectors_are_those_of_the_original(model: MiniLm) -> None:
    # Short, long beyond the window, empty, code, other scripts.
    assert len(SENTENCES) >= 10
    assert min(cosines(model.embed(SENTENCES))) > 0.9999
    assert model.model_id == REFERENCE["model"]


def test_vectors_have_length_one_and_the_declared_size(model: MiniLm) -> None:
    vectors = model.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), model.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_what_stands_together_does_not_matter(model: MiniLm) -> None:
    many = [SENTENCES[number % len(SENTENCES)] for number in range(100)]
    together, alone = model.embed(many), [model.embed([text])[0] for text in SENTENCES]
    for row, vector in enumerate(together):
        assert vector @ alone[row % len(alone)] > 0.99999


def test_nothing_gives_no_vectors(model: MiniLm) -> None:
    assert model.embed([]).shape == (0, 384)


def test_only_the_first_256_word_pieces_count(model: MiniLm) -> None:
    # Two of the window's places are for its marks.
    text = "word " * 254
    inside, beyond = model.embed([text, text + "zebra zebra zebra"])
    assert inside @ beyond > 0.999999
    shorter, longer = model.embed(["word " * 250, "word " * 250 + "zebra zebra zebra"])
    assert shorter @ longer < 0.9999


def test_halves_of_characters_are_no_obstacle(model: MiniLm) -> None:
    odd, plain = model.embed(["half a \ud800 character", "half a ? character"])
    assert odd @ plain > 0.9999


def test_like_meanings_are_nearer_than_like_words(model: MiniLm) -> None:
    give, refund, shoe = model.embed(["pay it back", "refund the money", "polish the shoe"])
    assert give @ refund > give @ shoe + 0.2


def test_threads_can_share_it(model: MiniLm) -> None:
    with ThreadPoolExecutor(8) as threads:
        for vectors in threads.map(lambda _: model.embed(SENTENCES), range(16)):
            assert min(cosines(vectors)) > 0.9999


def test_a_process_loads_one_model_however_many_ask() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert (
            len({id(found) for found in threads.map(lambda _: default_embedder(), range(8))}) == 1
        )
