"""Vectors in PostgreSQL with pgvector: one table per index version, searched by HNSW."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from django.db import DatabaseError, connection, transaction

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.vectors.exact import BLOCK_ROWS
from tools.pipelines.contracts import Found, Mask, Matrix, Rows

logger = logging.getLogger(__name__)

# The first version whose searches go on until enough allowed rows were met.
OLDEST: Final = (0, 8)
# Longer vectors cannot be indexed; all are compared.
MOST_DIMENSIONS: Final = 2000
# Of the table's vectors at most this many are compared when only some rows are allowed; beyond, the
# graph is walked until enough allowed ones were met.
MOST_COMPARED: Final = 20_000
LEAST_SEARCHED: Final = 200
MOST_SEARCHED: Final = 1000  # of hnsw.ef_search
# Steps of a COPY in PostgreSQL's own format: its head, and the end of the rows.
COPY_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_END: Final = b"\xff\xff"


def has_pgvector() -> bool:
    """Whether the database of this installation can keep vectors; makes the extension if it may."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT installed_version, default_version FROM pg_available_extensions "
            "WHERE name = 'vector'"
        )
        installed, available = cursor.fetchone() or (None, None)
    if installed is None and available is not None:
        installed = available if _made_extension() else None
    return installed is not None and _number(installed) >= OLDEST


def _made_extension() -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except DatabaseError as fault:
        # Only some users may; an administrator can make it once for all.
        logger.warning("The extension vector cannot be made: %s", fault)
        return False
    return True


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def table_name(version_id: int) -> str:
    return f"rag_vectors_{int(version_id)}"


def build_postgresql(version_id: int, vectors: Matrix) -> None:
    """Fill the version's table anew and index it."""
    table = table_name(version_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(
            f"CREATE TABLE {table} (passage integer PRIMARY KEY, "
            f"vector vector({int(vectors.shape[1])}) NOT NULL)"
        )
        # The column's default would move vectors out of line, which costs a read for each.
        cursor.execute(f"ALTER TABLE {table} ALTER COLUMN vector SET STORAGE PLAIN")
        with cursor.copy(f"COPY {table} (passage, vector) FROM STDIN (FORMAT binary)") as copy:
            for piece in _copied(vectors):
                copy.write(piece)
        if vectors.shape[1] <= MOST_DIMENSIONS:
            cursor.execute(f"CREATE INDEX ON {table} USING hnsw (vector vector_ip_ops)")
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {table}")


def drop_postgresql(version_id: int) -> None:
    """Remove the version's table, if it has one."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {table_name(version_id)}")


def open_postgresql(version_id: int, chunks: int) -> PostgresqlVectors:
    return PostgresqlVectors(version_id, chunks)


class PostgresqlVectors:
    """See `VectorStore` for what it promises. The connection is that of the thread that asks."""

    def __init__(self, version_id: int, chunks: int) -> None:
        self._table = table_name(version_id)
        self._chunks = chunks

    def search(self, vector: Matrix, count: int, allowed: Mask | None = None) -> Found:
        if count < 1 or not self._chunks:
            return Found.nothing()
        if allowed is None:
            return self._near(vector, count, "", [])
        rows = np.flatnonzero(allowed)
        if not len(rows):
            return Found.nothing()
        if len(rows) <= MOST_COMPARED or count >= len(rows):
            return best(rows, self.vectors(rows) @ vector, count)
        return self._near(vector, count, "WHERE passage = ANY(%s)", [rows.tolist()])

    def vectors(self, rows: Rows) -> Matrix:
        query = (
            "SELECT stored.vector FROM unnest(%s::integer[]) WITH ORDINALITY AS wanted (row, place) "  # noqa: S608 - our own name
            f"JOIN {self._table} AS stored ON stored.passage = wanted.row ORDER BY wanted.place"
        )
        with connection.cursor() as cursor:
            cursor.execute(query, [rows.tolist()])
            found = [_parsed(text) for (text,) in cursor.fetchall()]
        return np.array(found, np.float32)

    def __len__(self) -> int:
        return self._chunks

    def close(self) -> None:
        """Nothing is held: the connection belongs to Django."""

    def _near(self, vector: Matrix, count: int, where: str, values: list[Any]) -> Found:
        query = (
            f"SELECT passage, -(vector <#> %s::vector) FROM {self._table} {where} "  # noqa: S608 - our own name
            "ORDER BY vector <#> %s::vector LIMIT %s"
        )
        asked = _written(vector)
        searched = min(max(2 * count, LEAST_SEARCHED), MOST_SEARCHED)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL hnsw.ef_search = {searched}")
            # Goes on until `count` rows were met, also when most are not allowed.
            cursor.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            cursor.execute(query, [asked, *values, asked, count])
            found = cursor.fetchall()
        rows = np.array([row for row, _ in found], np.int64)
        return best(rows, np.array([score for _, score in found], np.float32), count)


def _copied(vectors: Matrix) -> Iterator[bytes]:
    """The rows of a binary COPY: number and vector, as pgvector sends them."""
    dimensions = vectors.shape[1]
    head = struct.Struct(">hiiihh")
    size = 4 + 4 * dimensions
    yield COPY_HEAD
    for start in range(0, len(vectors), BLOCK_ROWS // 16):
        block = vectors[start : start + BLOCK_ROWS // 16].astype(">f4")
        yield b"".join(
            head.pack(2, 4, start + place, size, dimensions, 0) + row.tobytes()
            for place, row in enumerate(block)
        )
    yield COPY_END


def _written(vector: Matrix) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _parsed(text: str) -> Matrix:
    return np.array(text[1:-1].split(","), np.float32)
