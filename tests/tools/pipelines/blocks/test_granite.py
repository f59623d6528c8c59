"""The default embedding model: what its file says is what runs, and no other file is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.pipelines.blocks import granite
from tools.pipelines.blocks.embedder import GRANITE, EmbedderUnavailable, embedder, token_counter
from tools.pipelines.blocks.granite import Granite, Pack
from tools.pipelines.blocks.weights import model_folder

PACK = model_folder(granite.PACKAGE, granite.FOLDER) / granite.FILE


@pytest.fixture(scope="module")
def model() -> Granite:
    loaded = embedder(GRANITE)
    assert isinstance(loaded, Granite)
    return loaded


def gelu(values: Any) -> Any:
    from math import erf

    return values * 0.5 * (1 + np.vectorize(erf)(values / np.sqrt(2)))


def normalised(values: Any, scale: Any, shift: Any) -> Any:
    centred = values - values.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12) * scale + shift


def by_hand(ids: list[int]) -> Any:
    """The vector of a text, computed from the pack with numpy alone, in 64 bits."""
    tensors = {name: value.astype(np.float64) for name, value in Pack(PACK).tensors()}
    positions = np.arange(len(ids)) + 2
    hidden = tensors["word_emb"][ids] + tensors["pos_emb"][positions] + tensors["type_emb"][0]
    hidden = normalised(hidden, tensors["emb_ln.w"], tensors["emb_ln.b"])
    for number in range(6):
        own = {
            name.split(".", 1)[1]: value
            for name, value in tensors.items()
            if name.startswith(f"l{number}.")
        }
        joined = hidden @ own["qkv.w"].T + own["qkv.b"]
        query, key, value = (
            part.reshape(len(ids), 12, 32).swapaxes(0, 1) for part in np.split(joined, 3, axis=1)
        )
        shares = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(32))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        attended = mixed.swapaxes(0, 1).reshape(len(ids), 384) @ own["ao.w"].T + own["ao.b"]
        hidden = normalised(hidden + attended, own["aln.w"], own["aln.b"])
        inner = gelu(hidden @ own["f1.w"].T + own["f1.b"]) @ own["f2.w"].T + own["f2.b"]
        hidden = normalised(hidden + inner, own["fln.w"], own["fln.b"])
    return hidden[0] / np.linalg.norm(hidden[0])


def test_vectors_are_what_the_weights_say(model: Granite) -> None:
    for text in ("Where does the river meet the sea?", "naïve façade, 東京 🚀", ""):
        expected = by_hand(list(model.read(text).ids))
        assert model.embed([text])[0] @ expected > 0.99999


def test_what_answers_a_question_is_nearer_than_what_shares_its_words(model: Granite) -> None:
    question, answer, words = model.embed(
        [
            "How long may a passport be out of date when I renew it?",
            "Expired travel documents can be replaced for up to fifteen years.",
            "The date of the renewal concert is out; passport photographs were shown.",
        ]
    )
    assert question @ answer > question @ words


def test_only_the_first_512_tokens_count(model: Granite) -> None:
    # Two of the window's places are for its marks.
    text = "word" + " word" * 509
    assert token_counter(GRANITE)(text) == 510
    inside, beyond = model.embed([text, text + " zebra zebra zebra"])
    assert inside @ beyond > 0.999999
    shorter, longer = model.embed([text[:-50], text[:-50] + " zebra zebra zebra"])
    assert shorter @ longer < 0.9999


def test_order_and_company_do_not_matter(model: Granite) -> None:
    texts = [f"The {word} " * length for word in ("ferry", "archive") for length in (1, 40, 9)]
    forward, backward = model.embed(texts), model.embed(texts[::-1])[::-1]
    assert np.abs(forward - backward).max() < 1e-5
    assert np.array_equal(model.embed(texts), forward)


def test_another_file_in_its_place_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    spoilt = bytearray(PACK.read_bytes())
    spoilt[-1] ^= 1
    (folder / granite.FILE).write_bytes(spoilt)
    monkeypatch.setattr(granite, "model_folder", lambda package, name: folder)
    with pytest.raises(EmbedderUnavailable, match="is not the expected file"):
        Granite.load(tmp_path / "models")
    assert not (tmp_path / "models").exists()
