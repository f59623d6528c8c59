"""Figures beside the journal, with two real writers of which one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from controlplane.env import PROJECT_DIR

CALLS = "5000"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database like the suite's."""
    if connection.vendor != "postgresql":
        yield f"sqlite:///{tmp_path}/figures.sqlite3"
        return
    server = os.environ["DATABASE_URL"]
    name = f"figures_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        session.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_counts_equal_the_journals_and_percentiles_are_within_two_percent(database: str) -> None:
    # S0-075 S0-076 S0-077 F0-14 F0-21
    done = subprocess.run(
        [sys.executable, "-m", "bench.figures", "--calls", CALLS],
        cwd=PROJECT_DIR,
        env={**os.environ, "DATABASE_URL": database},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5,000 calls" in done.stdout
    assert "WRONG" not in done.stdout
