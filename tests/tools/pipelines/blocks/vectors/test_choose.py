"""Which store RAG_STORE chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection

from tools.conf import deployment
from tools.pipelines.blocks.vectors import ann, exact
from tools.pipelines.blocks.vectors.choose import build_store, chosen_store, open_vectors
from tools.pipelines.contracts import BlockUnavailable, IndexSpec

pytestmark = pytest.mark.django_db

Configure = Callable[..., None]


@pytest.fixture
def configure(settings: Any) -> Iterator[Configure]:
    def configured(**values: str) -> None:
        settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, **values}
        deployment.cache_clear()

    yield configured
    deployment.cache_clear()


def test_auto_takes_what_the_database_offers(configure: Configure) -> None:
    configure(RAG_STORE="auto")
    assert chosen_store() == ("postgresql" if connection.vendor == "postgresql" else "files")
    configure(RAG_STORE="files")
    assert chosen_store() == "files"


@pytest.mark.on_database("sqlite")
def test_postgresql_is_refused_where_there_is_none(configure: Configure) -> None:
    configure(RAG_STORE="postgresql")
    with pytest.raises(BlockUnavailable, match="needs a PostgreSQL database with the extension"):
        chosen_store()


def test_iris_needs_its_address(configure: Configure) -> None:
    configure(RAG_STORE="iris", IRIS_URL="")
    with pytest.raises(BlockUnavailable, match="needs IRIS_URL"):
        chosen_store()
    configure(RAG_STORE="iris", IRIS_URL="iris://user:pass@iris.example/USER")
    assert chosen_store() == "iris"


def test_files_get_a_graph_above_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ann, "SMALLEST", 100)
    spec = IndexSpec(1, "library", 1, "model", "1/1")
    for count, kind in ((100, exact.ExactVectors), (101, ann.AnnVectors)):
        vectors = np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32)
        np.save(tmp_path / exact.VECTORS, vectors)
        build_store("files", 1, tmp_path, vectors, [])
        assert isinstance(open_vectors(spec, tmp_path), kind)
