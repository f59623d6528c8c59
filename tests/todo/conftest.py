"""Todo databases of both kinds, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from examples.todo_server.__main__ import open_store
from examples.todo_server.server import TodoServer
from tests.run_on_postgres import postgres
from tests.todo.programs import Caller, caller


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A PostgreSQL server of its own."""
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without todos."""
    if request.param == "sqlite":
        return str(tmp_path / "todo.sqlite3")
    url: str = request.getfixturevalue("postgresql")
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS todos")
    return url


@pytest.fixture
def todos(database: str, tmp_path: Path) -> Iterator[Caller]:
    """A client of a server in this process."""
    server = TodoServer(open_store(database, tmp_path))
    with caller(server.protocol) as connected:
        yield connected
    server.close()
