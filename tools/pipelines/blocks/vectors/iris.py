"""Vectors in InterSystems IRIS: one table per index version, through the vendor's DB-API driver.

The driver is optional (requirements-iris.txt). The SQL is that of IRIS 2025.1, whose HNSW indexes are
used where the server has them; older servers with the VECTOR type compare all vectors.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np

from tools.pipelines.blocks.fusion import best
from tools.pipelines.contracts import BlockUnavailable, Found, Mask, Matrix, Rows

logger = logging.getLogger(__name__)

DEFAULT_PORT: Final = 1972
DEFAULT_NAMESPACE: Final = "USER"
CONNECT_SECONDS: Final = 10
INSERTED_ROWS: Final = 500
# The most rows that one statement names.
NAMED_ROWS: Final = 500
MOST_COMPARED: Final = 5000

T = TypeVar("T")
Statement = tuple[str, Sequence[Any]]


class IrisServer:
    """Connections to one server, one per thread as the driver asks."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = {
            "hostname": parts.hostname or "127.0.0.1",
            "port": parts.port or DEFAULT_PORT,
            "namespace": parts.path.strip("/") or DEFAULT_NAMESPACE,
            "username": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
        }
        self._here = threading.local()

    def run(self, work: Callable[[Any], T]) -> T:
        """`work` with a cursor, and its changes kept; a connection that broke is replaced once.

        Raises:
            BlockUnavailable: the driver is missing, or the server does not do what it is asked.
        """
        driver = _driver()
        again = getattr(self._here, "connection", None) is not None
        try:
            return self._once(driver, work)
        except driver.Error as fault:
            self.close()
            if again:
                return self.run(work)
            logger.warning("InterSystems IRIS: %s", fault)
            raise BlockUnavailable("The vector store does not answer.") from fault

    def close(self) -> None:
        """Close the connection of this thread."""
        connection, self._here.connection = getattr(self._here, "connection", None), None
        if connection is not None:
            try:
                connection.close()
            except _driver().Error:
                logger.debug("The connection was broken already")

    def _once(self, driver: Any, work: Callable[[Any], T]) -> T:
        connection = getattr(self._here, "connection", None)
        if connection is None:
            connection = driver.connect(**self._address, timeout=CONNECT_SECONDS, autoCommit=False)
            self._here.connection = connection
        cursor = connection.cursor()
        try:
            result = work(cursor)
            connection.commit()
        finally:
            cursor.close()
        return result


class IrisVectors:
    """See `VectorStore` for what it promises."""

    def __init__(self, server: IrisServer, version_id: int, chunks: int) -> None:
        self._server = server
        self._table = table_name(version_id)
        self._chunks = chunks

    def search(self, vector: Matrix, count: int, allowed: Mask | None = None) -> Found:
        if count < 1 or not self._chunks:
            return Found.nothing()
        if allowed is None:
            return self._near(vector, count)
        rows = np.flatnonzero(allowed)
        if len(rows) <= MOST_COMPARED:
            return best(rows, self.vectors(rows) @ vector, count) if len(rows) else Found.nothing()
        asked = 2 * count * self._chunks // len(rows)
        while True:
            found = self._near(vector, min(asked, self._chunks))
            kept = allowed[found.rows]
            if kept.sum() >= count or asked >= self._chunks:
                return Found(found.rows[kept], found.scores[kept]).best(count)
            asked *= 4

    def vectors(self, rows: Rows) -> Matrix:
        stored: dict[int, Matrix] = {}
        for start in range(0, len(rows), NAMED_ROWS):
            named = rows[start : start + NAMED_ROWS].tolist()
            marks = ", ".join("?" * len(named))
            query = f"SELECT passage, vector FROM {self._table} WHERE passage IN ({marks})"  # noqa: S608 - our own name
            stored |= {int(row): _parsed(text) for row, text in self._fetch(query, named)}
        return np.array([stored[int(row)] for row in rows], np.float32)

    def __len__(self) -> int:
        return self._chunks

    def close(self) -> None:
        self._server.close()

    def _near(self, vector: Matrix, count: int) -> Found:
        # The number is part of the text: TOP takes a parameter, but then no index is used.
        query = (
            f"SELECT TOP {int(count)} passage, VECTOR_COSINE(vector, TO_VECTOR(?, DOUBLE)) AS score "  # noqa: S608 - our own name
            f"FROM {self._table} ORDER BY score DESC"
        )
        found = self._fetch(query, [_written(vector)])
        rows = np.array([row for row, _ in found], np.int64)
        return best(rows, np.array([score for _, score in found], np.float32), count)

    def _fetch(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        def work(cursor: Any) -> list[tuple[Any, ...]]:
            cursor.execute(query, list(values))
            return [tuple(row) for row in cursor.fetchall()]

        return self._server.run(work)


def table_name(version_id: int) -> str:
    return f"MCP_RAG.Vectors{int(version_id)}"


def build_iris(server: IrisServer, version_id: int, vectors: Matrix) -> None:
    """Fill the version's table anew and index it.

    Raises:
        BlockUnavailable: the driver is missing, or the server does not do what it is asked.
    """
    table = table_name(version_id)
    insert = f"INSERT INTO {table} (passage, vector) VALUES (?, TO_VECTOR(?, DOUBLE))"  # noqa: S608 - our own name

    def fill(cursor: Any) -> None:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(
            f"CREATE TABLE {table} (passage INTEGER PRIMARY KEY, "
            f"vector VECTOR(DOUBLE, {int(vectors.shape[1])}))"
        )
        for start in range(0, len(vectors), INSERTED_ROWS):
            block = vectors[start : start + INSERTED_ROWS]
            cursor.executemany(
                insert, [(start + place, _written(row)) for place, row in enumerate(block)]
            )

    server.run(fill)
    try:
        server.run(
            lambda cursor: cursor.execute(
                f"CREATE INDEX Nearest ON TABLE {table} (vector) AS HNSW(Distance='Cosine')"
            )
        )
    except BlockUnavailable:
        logger.warning("%s has no HNSW index: this server compares all vectors", table)


def drop_iris(server: IrisServer, version_id: int) -> None:
    """Remove the version's table, if it has one."""
    server.run(lambda cursor: cursor.execute(f"DROP TABLE IF EXISTS {table_name(version_id)}"))


def _driver() -> Any:
    """The driver's DB-API module."""
    try:
        return import_module("iris.dbapi")
    except ImportError:
        raise BlockUnavailable(
            "The driver for InterSystems IRIS is not installed: pip install -r requirements-iris.txt"
        ) from None


def _written(vector: Matrix) -> str:
    return ",".join(map(repr, vector.tolist()))


def _parsed(text: str) -> Matrix:
    return np.array(str(text).strip("[]").split(","), np.float32)
