"""Graphs of models: built once, kept, and built anew where they are spoilt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.pages import PROJECT
from tests.tools.pipelines.blocks.minilm_reference import SENTENCES, cosines
from tools.pipelines.blocks import minilm
from tools.pipelines.blocks.embedder import EmbedderUnavailable
from tools.pipelines.blocks.minilm import MiniLm
from tools.pipelines.blocks.weights import check_digest, model_folder


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


def test_queries_have_a_smaller_graph_of_their_own(tmp_path: Path) -> None:
    model = MiniLm.load(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    model.embed_query("Which graph is this?")
    (made,) = {path.name for path in tmp_path.iterdir()} - before
    assert made.endswith("-int8.onnx")
    assert (tmp_path / made).stat().st_size < 40_000_000
