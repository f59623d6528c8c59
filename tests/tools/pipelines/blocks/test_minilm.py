"""The embedding model: as good as the original, safe to share, and it says what is missing."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.project.pages import PROJECT
from tools.pipelines.blocks import minilm
from tools.pipelines.blocks.embedder import EmbedderUnavailable, Vectors, default_embedder
from tools.pipelines.blocks.minilm import MiniLm
from tools.pipelines.blocks.weights import check_digest, model_folder

REFERENCE = json.loads(Path(__file__).with_name("minilm_reference.json").read_text("utf-8"))
SENTENCES: list[str] = REFERENCE["sentences"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MiniLm:
    return MiniLm.load(tmp_path_factory.mktemp("models"))


def cosines(ours: Vectors) -> list[float]:
    """How near our vectors are to those that sentence-transformers gave for the same sentences."""
    theirs = [np.frombuffer(base64.b64decode(text), "<f4") for text in REFERENCE["vectors"]]
    return [float(a @ b) for a, b in zip(ours, theirs, strict=True)]


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


def test_the_graph_is_built_once_and_then_loaded(tmp_path: Path) -> None:
    MiniLm.load(tmp_path)
    (kept,) = tmp_path.iterdir()
    before = kept.stat()
    again = MiniLm.load(tmp_path)
    assert kept.stat().st_mtime_ns == before.st_mtime_ns
    assert min(cosines(again.embed(SENTENCES))) > 0.9999
    assert before.st_size < 50_000_000


def test_a_spoilt_graph_is_built_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    MiniLm.load(tmp_path)
    (kept,) = tmp_path.iterdir()
    size = kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:1000])
    assert min(cosines(MiniLm.load(tmp_path).embed(SENTENCES))) > 0.9999
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [size]
    assert "is built anew" in caplog.text


def test_where_nothing_can_be_kept_the_graph_is_built_each_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    model = MiniLm.load(tmp_path / "file" / "models")
    assert min(cosines(model.embed(SENTENCES))) > 0.9999
    assert "is built at every start" in caplog.text


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "weights-nobody-has")
    with pytest.raises(EmbedderUnavailable, match=r"install requirements-models\.txt"):
        MiniLm.load(tmp_path)
    with pytest.raises(EmbedderUnavailable, match="without its folder"):
        model_folder("numpy", "no/such/folder")


def test_other_weights_than_the_published_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"other weights")
    with pytest.raises(EmbedderUnavailable, match="is not the expected file"):
        check_digest(other, minilm.WEIGHTS_SHA256)
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        check_digest(tmp_path / "gone", minilm.WEIGHTS_SHA256)


def test_a_process_that_does_not_embed_carries_no_model_runtime() -> None:
    program = (
        "import django; django.setup()\n"
        "import controlplane.asgi, controlplane.celery, sys\n"
        "heavy = 'onnxruntime onnx tokenizers torch scipy bm25s networkx usearch pypdf'.split()\n"
        "print(sorted(set(heavy) & set(sys.modules)))"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "controlplane.settings"}
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "[]"
