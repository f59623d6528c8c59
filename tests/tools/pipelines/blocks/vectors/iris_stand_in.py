"""A stand-in for the DB-API module of the IRIS driver, where there is no server to be had.

It takes the calls that the driver documents (`connect` with its keywords, `qmark` parameters) and
runs the SQL on SQLite, after turning the words that only IRIS knows into what SQLite knows. It refuses
statements that the adapter is not meant to send, and can be told to break.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

KEYWORDS = {"hostname", "port", "namespace", "username", "password", "timeout", "autoCommit"}
KNOWN = re.compile(
    r"(DROP TABLE IF EXISTS \S+"
    r"|CREATE TABLE \S+ \(passage INTEGER PRIMARY KEY, vector VECTOR\(DOUBLE, \d+\)\)"
    r"|INSERT INTO \S+ \(passage, vector\) VALUES \(\?, TO_VECTOR\(\?, DOUBLE\)\)"
    r"|CREATE INDEX \S+ ON TABLE \S+ \(vector\) AS HNSW\(Distance='Cosine'\)"
    r"|SELECT TOP \d+ passage, VECTOR_COSINE\(vector, TO_VECTOR\(\?, DOUBLE\)\) AS score "
    r"FROM \S+ ORDER BY score DESC"
    r"|SELECT passage, vector FROM \S+ WHERE passage IN \([?, ]+\))\Z"
)


class Error(Exception):
    """Base of the driver's errors, as PEP 249 has it."""


class OperationalError(Error):
    """What a lost connection raises."""


class Server:
    """The tables behind all connections, and what was asked of them."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.create_function("TO_VECTOR", 2, lambda text, _: text)
        self.database.create_function("VECTOR_COSINE", 2, _cosine)
        self.connections: list[dict[str, Any]] = []
        self.statements: list[str] = []
        self.has_hnsw = True
        self.broken = 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let this be what the adapter finds as the driver."""
        dbapi = ModuleType("iris.dbapi")
        vars(dbapi).update(Error=Error, OperationalError=OperationalError, connect=self.connect)
        monkeypatch.setitem(sys.modules, "iris", ModuleType("iris"))
        monkeypatch.setitem(sys.modules, "iris.dbapi", dbapi)

    def connect(self, **keywords: Any) -> Connection:
        assert set(keywords) <= KEYWORDS
        self.connections.append(keywords)
        return Connection(self)

    def run(self, query: str) -> str:
        """The statement in SQLite's words."""
        self.statements.append(query)
        if self.broken:
            self.broken -= 1
            raise OperationalError("communication link failure")
        if not KNOWN.match(query):
            raise Error(f"not a statement of the adapter: {query}")
        if "AS HNSW" in query:
            if not self.has_hnsw:
                raise Error("[SQLCODE: <-1>] HNSW")
            return "SELECT 1"
        query = re.sub(r"MCP_RAG\.", "MCP_RAG_", query)
        query = re.sub(r"VECTOR\(DOUBLE, \d+\)\)$", "TEXT)", query).replace(", DOUBLE)", ", 0)")
        top = re.match(r"SELECT TOP (\d+)", query)
        return f"SELECT{query[top.end() :]} LIMIT {top[1]}" if top else query


class Connection:
    def __init__(self, server: Server) -> None:
        self._server = server

    def cursor(self) -> Cursor:
        return Cursor(self._server)

    def commit(self) -> None:
        self._server.database.commit()

    def close(self) -> None:
        pass


class Cursor:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._cursor = server.database.cursor()

    def execute(self, query: str, values: Sequence[Any] = ()) -> None:
        self._cursor.execute(self._server.run(query), values)

    def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cursor.executemany(self._server.run(query), rows)

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    def close(self) -> None:
        self._cursor.close()


def _cosine(first: str, second: str) -> float:
    left, right = (np.array(text.split(","), np.float64) for text in (first, second))
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
