"""The todo list in a SQLite file, which several processes may share."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from examples.todo_server.store import Row, Store
from examples.todo_server.values import Fields, Todo, Unavailable

# How long to wait for another process that writes. A writer holds the file for milliseconds.
BUSY_SECONDS: Final = 4.0
TABLE: Final = """
CREATE TABLE IF NOT EXISTS todos (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    title_folded TEXT NOT NULL,
    description TEXT NOT NULL CHECK (length(description) <= 2000),
    description_folded TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'archived')),
    priority INTEGER CHECK (priority BETWEEN 1 AND 5),
    tags TEXT NOT NULL,
    due_date TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
)
"""
INDEX: Final = "CREATE INDEX IF NOT EXISTS todos_by_status ON todos (status, priority, due_date)"


class SqliteStore(Store):
    """One connection, used by one thread at a time: SQLite writes one after the other anyway."""

    workers = 1
    mark = "?"
    # `instr` and not LIKE, to which % and _ are more than characters.
    contains = "instr({column}, ?) > 0"
    tagged = "EXISTS (SELECT 1 FROM json_each(todos.tags) AS tag WHERE tag.value = ?)"

    def __init__(self, path: Path) -> None:
        """Open the file and make the table where it is missing; raises Unavailable."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.row_factory = sqlite3.Row
            _share(self._connection)
            self.rows(TABLE, (), write=True)
            self.rows(INDEX, (), write=True)
        except (OSError, sqlite3.Error) as fault:
            raise Unavailable(f"{path}: {fault}") from fault

    @override
    def rows(self, statement: str, values: Sequence[Any], *, write: bool) -> Sequence[Row]:
        try:
            # Takes its turn at the start: one that reads first and then writes may be refused.
            self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                found = self._connection.execute(statement, values).fetchall()
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as fault:
            raise Unavailable(str(fault)) from fault
        return found

    @override
    def close(self) -> None:
        self._connection.close()

    @override
    def stored(self, fields: Fields) -> dict[str, Any]:
        columns = dict(fields)
        if "tags" in columns:
            columns["tags"] = json.dumps(columns["tags"], ensure_ascii=False)
        moment: datetime = columns["updated_at"]
        columns["updated_at"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return columns

    @override
    def todo(self, row: Row) -> Todo:
        kept = {name: row[name] for name in Todo.__slots__}
        return Todo(**{**kept, "tags": tuple(json.loads(row["tags"]))})


def _share(connection: sqlite3.Connection) -> None:
    """Let readers read while somebody writes, and lose nothing that was answered."""
    connection.execute("PRAGMA synchronous = FULL")
    limit = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            # Another process changes the mode at this moment; SQLite does not wait for that.
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)
        else:
            return
