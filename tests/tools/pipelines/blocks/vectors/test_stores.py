"""What every vector store promises, whatever keeps the vectors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from tests.tools.pipelines.blocks.vectors.iris_stand_in import Server
from tools.pipelines.blocks.vectors import ann, exact, iris, postgresql
from tools.pipelines.contracts import Matrix, VectorStore

pytestmark = pytest.mark.django_db

COUNT: Final = 600
DIMENSIONS: Final = 48
VERSION: Final = 900_001

Make = Callable[[Matrix], VectorStore]


@pytest.fixture(scope="module")
def vectors() -> Matrix:
    return unit(np.random.default_rng(7).normal(size=(COUNT, DIMENSIONS)))


@pytest.fixture(
    params=[
        "exact",
        "ann",
        pytest.param("postgresql", marks=pytest.mark.on_database("postgresql")),
        "iris",
    ]
)
def make(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    kind = request.param
    if kind == "postgresql":
        # Asking installs the extension in the suite's database.
        assert postgresql.has_pgvector()
    monkeypatch.setattr(ann, "LEAST_CANDIDATES", 40)
    Server().install(monkeypatch)

    def made(matrix: Matrix) -> VectorStore:
        np.save(tmp_path / exact.VECTORS, matrix)
        if kind == "postgresql":
            postgresql.build_postgresql(VERSION, matrix)
            return postgresql.open_postgresql(VERSION, len(matrix))
        if kind == "iris":
            server = iris.IrisServer("iris://user:pass@iris.example:1972/USER")
            iris.build_iris(server, VERSION, matrix)
            return iris.IrisVectors(server, VERSION, len(matrix))
        if kind == "ann":
            ann.build_ann(tmp_path, matrix, threads=1)
            return ann.open_ann(tmp_path)
        return exact.open_exact(tmp_path)

    yield made
    if kind == "postgresql":
        postgresql.drop_postgresql(VERSION)


def unit(values: np.ndarray) -> Matrix:
    matrix: Matrix = (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)
    return matrix


def nearest(vectors: Matrix, query: Matrix, count: int) -> list[int]:
    order = np.argsort(-(vectors @ query), kind="stable")
    return [int(row) for row in order[:count]]


def test_nearest_rows_come_first_with_their_cosines(make: Make, vectors: Matrix) -> None:
    store = make(vectors)
    assert len(store) == COUNT
    for query in unit(np.random.default_rng(1).normal(size=(5, DIMENSIONS))):
        found = store.search(query, 10)
        assert found.rows.tolist() == nearest(vectors, query, 10)
        np.testing.assert_allclose(found.scores, vectors[found.rows] @ query, atol=1e-5)
    store.close()


def test_vector_itself_is_its_nearest(make: Make, vectors: Matrix) -> None:
    store = make(vectors)
    found = store.search(vectors[17], 1)
    assert found.rows.tolist() == [17]
    assert found.scores[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_only_allowed_rows_are_found(make: Make, vectors: Matrix, share: float) -> None:
    store = make(vectors)
    allowed = np.random.default_rng(3).random(COUNT) < share
    query = vectors[5]
    wanted = [row for row in nearest(vectors, query, COUNT) if allowed[row]][:10]
    assert store.search(query, 10, allowed).rows.tolist() == wanted


def test_few_allowed_rows_are_all_there_is(make: Make, vectors: Matrix) -> None:
    store = make(vectors)
    allowed = np.zeros(COUNT, np.bool_)
    assert len(store.search(vectors[0], 5, allowed)) == 0
    allowed[[3, 99]] = True
    assert sorted(store.search(vectors[0], 5, allowed).rows.tolist()) == [3, 99]


def test_more_than_there_are_gives_all(make: Make, vectors: Matrix) -> None:
    store = make(vectors[:7])
    assert sorted(store.search(vectors[0], 50).rows.tolist()) == list(range(7))
    assert len(store.search(vectors[0], 0)) == 0


def test_stored_vectors_come_back_in_the_order_asked(make: Make, vectors: Matrix) -> None:
    store = make(vectors)
    rows = np.array([5, 0, 599, 5])
    np.testing.assert_allclose(store.vectors(rows), vectors[rows], atol=1e-6)


def test_empty_store_finds_nothing(make: Make) -> None:
    store = make(np.empty((0, DIMENSIONS), np.float32))
    assert len(store.search(np.ones(DIMENSIONS, np.float32), 3)) == 0


def test_new_build_replaces_the_old(make: Make, vectors: Matrix) -> None:
    make(vectors)
    store = make(vectors[100:200])
    assert store.search(vectors[130], 1).rows.tolist() == [30]


def test_large_sets_are_searched_through_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(11)
    centres = unit(generator.normal(size=(50, DIMENSIONS)))
    spread = generator.normal(size=(5000, DIMENSIONS)) * 0.1
    vectors = unit(centres[generator.integers(0, 50, 5000)] + spread)
    np.save(tmp_path / exact.VECTORS, vectors)
    ann.build_ann(tmp_path, vectors, threads=1)
    store = ann.open_ann(tmp_path)
    monkeypatch.setattr(
        exact.ExactVectors, "search", lambda *args: pytest.fail("all vectors were compared")
    )
    hits = sum(
        len({*store.search(query, 10).rows.tolist()} & {*nearest(vectors, query, 10)})
        for query in vectors[::100]
    )
    assert hits >= 0.98 * 500


@pytest.mark.on_database("postgresql")
def test_filter_that_allows_most_walks_the_graph(
    vectors: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "MOST_COMPARED", 10)
    assert postgresql.has_pgvector()
    postgresql.build_postgresql(VERSION, vectors)
    store = postgresql.open_postgresql(VERSION, COUNT)
    allowed = np.ones(COUNT, np.bool_)
    allowed[nearest(vectors, vectors[5], 3)] = False
    found = store.search(vectors[5], 10, allowed).rows
    postgresql.drop_postgresql(VERSION)
    assert found.tolist() == nearest(vectors, vectors[5], 13)[3:]


def test_graph_and_models_are_loaded_into_one_process(tmp_path: Path) -> None:
    """Whichever comes first: one order of the two libraries crashes."""
    program = (
        "import numpy as np, pathlib, sys\n"
        "from tools.pipelines.blocks.vectors import ann\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "vectors = np.eye(8, dtype=np.float32)\n"
        "np.save(folder / 'vectors.npy', vectors)\n"
        "ann.build_ann(folder, vectors, threads=1)\n"
        "import onnxruntime\n"
        "print(ann.open_ann(folder).search(vectors[3], 1).rows)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[3]\n"), done.stderr
