"""The todo list in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout
from typing_extensions import override

from examples.todo_server.store import Row, Store
from examples.todo_server.values import Fields, Todo, Unavailable

WAIT_SECONDS: Final = 3.0
# Whoever makes the table holds this lock meanwhile.
MAKING: Final = 7_305_813_102_211
TABLE: Final = """
CREATE TABLE IF NOT EXISTS todos (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
    title_folded text NOT NULL,
    description text NOT NULL CHECK (char_length(description) <= 2000),
    description_folded text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'completed', 'archived')),
    priority integer CHECK (priority BETWEEN 1 AND 5),
    tags text[] NOT NULL,
    due_date date,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
)
"""
INDEX: Final = "CREATE INDEX IF NOT EXISTS todos_by_status ON todos (status, priority, due_date)"


class PostgresqlStore(Store):
    """A small pool; a connection that broke is replaced by the next operation."""

    workers = 4
    mark = "%s"
    contains = "strpos({column}, %s) > 0"
    tagged = "%s = ANY (tags)"

    def __init__(self, url: str) -> None:
        """Connect and make the table where it is missing; raises Unavailable."""
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] = ConnectionPool(
            url,
            min_size=1,
            max_size=self.workers,
            timeout=WAIT_SECONDS,
            kwargs={"row_factory": dict_row, "connect_timeout": int(WAIT_SECONDS)},
            check=ConnectionPool.check_connection,
            open=False,
        )
        try:
            # Once without the pool, which says only that it waited.
            psycopg.connect(url, connect_timeout=int(WAIT_SECONDS)).close()
            self._pool.open()
            with self._pool.connection() as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [MAKING])
                connection.execute(TABLE)
                connection.execute(INDEX)
        except (psycopg.Error, PoolTimeout) as fault:
            self._pool.close()
            raise Unavailable(str(fault).strip()) from fault

    @override
    def rows(self, statement: str, values: Sequence[Any], *, write: bool) -> Sequence[Row]:
        try:
            with self._pool.connection() as connection:
                return connection.execute(statement, values).fetchall()
        except (psycopg.Error, PoolTimeout) as fault:
            raise Unavailable(str(fault).strip()) from fault

    @override
    def close(self) -> None:
        self._pool.close()

    @override
    def stored(self, fields: Fields) -> dict[str, Any]:
        columns = dict(fields)
        if "tags" in columns:
            columns["tags"] = list(columns["tags"])
        return columns

    @override
    def todo(self, row: Row) -> Todo:
        kept = {name: row[name] for name in Todo.__slots__}
        due = kept["due_date"]
        return Todo(
            **{
                **kept,
                "tags": tuple(kept["tags"]),
                "due_date": None if due is None else due.isoformat(),
                "created_at": _written(kept["created_at"]),
                "updated_at": _written(kept["updated_at"]),
            }
        )


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
