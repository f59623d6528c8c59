"""The whole control plane on PostgreSQL."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.controlplane.stack import stack
from tests.processes import wait_until


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database on the suite's server; dropped afterwards."""
    server = os.environ["DATABASE_URL"]
    name = f"stack_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_up_serves_and_logs_calls_on_postgresql(database: str) -> None:
    with stack(DATABASE_URL=database) as made:
        up = made.up().wait_until_running()
        assert "(healthy)" in up.output
        status, answer = made.call("server_metrics")
        assert (status, answer["success"]) == (200, True)
        with psycopg.connect(database, autocommit=True) as connection:
            wait_until(lambda: _logged(connection, answer["request_id"]), what="the log row")
        up.interrupt()
        assert up.wait(10) == 0


def _logged(connection: psycopg.Connection[tuple[object, ...]], request_id: str) -> bool:
    query = "SELECT count(*) FROM tools_toolrequest WHERE request_id = %s"
    row = connection.execute(query, [request_id]).fetchone()
    return row == (1,)
