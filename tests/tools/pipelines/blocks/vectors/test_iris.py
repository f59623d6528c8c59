"""The adapter for InterSystems IRIS, against the documented interface of its driver."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.tools.pipelines.blocks.vectors.iris_stand_in import Server
from tools.pipelines.blocks.vectors import iris
from tools.pipelines.contracts import BlockUnavailable

VECTORS = np.eye(4, dtype=np.float32)
URL = "iris://rag%40site:se%2Fcret@iris.example:1973/RAG"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    server.install(monkeypatch)
    return server


def test_address_is_taken_apart_for_the_driver(driver: Server) -> None:
    iris.build_iris(iris.IrisServer(URL), 3, VECTORS)
    assert driver.connections == [
        {
            "hostname": "iris.example",
            "port": 1973,
            "namespace": "RAG",
            "username": "rag@site",
            "password": "se/cret",
            "timeout": 10,
            "autoCommit": False,
        }
    ]


def test_statements_are_those_of_iris(driver: Server) -> None:
    server = iris.IrisServer(URL)
    iris.build_iris(server, 3, VECTORS)
    iris.IrisVectors(server, 3, 4).search(VECTORS[1], 2)
    iris.drop_iris(server, 3)
    assert driver.statements == [
        "DROP TABLE IF EXISTS MCP_RAG.Vectors3",
        "CREATE TABLE MCP_RAG.Vectors3 (passage INTEGER PRIMARY KEY, vector VECTOR(DOUBLE, 4))",
        "INSERT INTO MCP_RAG.Vectors3 (passage, vector) VALUES (?, TO_VECTOR(?, DOUBLE))",
        "CREATE INDEX Nearest ON TABLE MCP_RAG.Vectors3 (vector) AS HNSW(Distance='Cosine')",
        "SELECT TOP 2 passage, VECTOR_COSINE(vector, TO_VECTOR(?, DOUBLE)) AS score "
        "FROM MCP_RAG.Vectors3 ORDER BY score DESC",
        "DROP TABLE IF EXISTS MCP_RAG.Vectors3",
    ]


def test_server_without_hnsw_is_searched_all_the_same(driver: Server) -> None:
    driver.has_hnsw = False
    server = iris.IrisServer(URL)
    iris.build_iris(server, 3, VECTORS)
    assert iris.IrisVectors(server, 3, 4).search(VECTORS[2], 1).rows.tolist() == [2]


def test_broken_connection_is_replaced_once(driver: Server) -> None:
    server = iris.IrisServer(URL)
    iris.build_iris(server, 3, VECTORS)
    store = iris.IrisVectors(server, 3, 4)
    driver.broken = 1
    assert store.search(VECTORS[3], 1).rows.tolist() == [3]
    assert len(driver.connections) == 2


def test_server_that_stays_away_is_told_without_its_address(driver: Server) -> None:
    server = iris.IrisServer(URL)
    iris.build_iris(server, 3, VECTORS)
    driver.broken = 5
    with pytest.raises(BlockUnavailable) as caught:
        iris.IrisVectors(server, 3, 4).search(VECTORS[3], 1)
    assert str(caught.value) == "The vector store does not answer."


def test_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "iris", None)
    with pytest.raises(BlockUnavailable, match=r"requirements-iris\.txt"):
        iris.build_iris(iris.IrisServer(URL), 3, VECTORS)
