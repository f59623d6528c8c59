"""Vectors of tools on disk, so that a tool is embedded once and not at every start.

One small SQLite file, shared by all processes of this machine. It is a cache: when it cannot be
read or written, vectors are computed again.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

Vector = NDArray[np.float32]

MOST_KEPT: Final = 20_000
WAIT_SECONDS: Final = 5
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, "
    "digest TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (model, digest))"
)
_ADD: Final = "INSERT OR REPLACE INTO vectors (model, digest, vector) VALUES (?, ?, ?)"
_OLDEST: Final = "DELETE FROM vectors WHERE id <= (SELECT max(id) FROM vectors) - ?"


class VectorFile:
    """The kept vectors of one model, by the digest of a tool's passages."""

    def __init__(self, path: Path, model: str, dimensions: int) -> None:
        self._path = path
        self._model = model
        self._size = dimensions * np.dtype(np.float32).itemsize

    def read(self) -> dict[str, Vector]:
        """Every kept vector; none when the file is not there or is no use."""
        if not self._path.exists():
            return {}
        try:
            with self._open() as database:
                rows = database.execute(
                    "SELECT digest, vector FROM vectors WHERE model = ? ORDER BY id", (self._model,)
                ).fetchall()
        except (sqlite3.Error, OSError) as fault:
            logger.warning("Vectors of tools are not read from %s: %s", self._path.name, fault)
            return {}
        return {
            digest: np.frombuffer(content, dtype=np.float32)
            for digest, content in rows
            if len(content) == self._size
        }

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Keep these too; the oldest go once there are very many."""
        rows = [(self._model, digest, vector.tobytes()) for digest, vector in vectors.items()]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                database.executemany(_ADD, rows)
                database.execute(_OLDEST, (MOST_KEPT,))
        except (sqlite3.Error, OSError) as fault:
            logger.warning("Vectors of tools are not kept in %s: %s", self._path.name, fault)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=WAIT_SECONDS)) as database, database:
            database.execute(_TABLE)
            yield database
