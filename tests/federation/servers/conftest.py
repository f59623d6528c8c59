"""One control plane for all: started as a newcomer does, stopped, started again with more behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controlplane.env import PROJECT_DIR
from tests.controlplane.stack import stack
from tests.federation.servers.plane import Plane
from tests.federation.servers.reference import (
    OVER_HTTP,
    everything_over_http,
    programs,
)


@dataclass
class FirstStart:
    """What was seen of the first start."""

    printed: str
    tools: dict[str, dict[str, Any]]
    created: tuple[int, Any]
    registry: list[dict[str, Any]]
    discovery: dict[str, Any]
    connection: dict[str, Any]
    child_left: bool


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("federation")


@pytest.fixture(scope="package")
def files(folder: Path) -> Path:
    """What the filesystem server may see."""
    made = folder / "files"
    made.mkdir()
    return made


@pytest.fixture(scope="package")
def http_url(folder: Path) -> Iterator[str]:
    """The everything server over Streamable HTTP."""
    with everything_over_http(folder) as url:
        yield url


@pytest.fixture(scope="package")
def starts(folder: Path, files: Path) -> Iterator[tuple[Plane, FirstStart]]:
    """A control plane in its second start, and what the first one was like."""
    # Nothing here is work for workers.
    with stack(WORKER_CONCURRENCY="1", PIPELINE_CONCURRENCY="1") as made:
        plane = Plane(made)
        running = made.up().wait_until_running()
        first = FirstStart(
            running.output,
            plane.offered(),
            made.call("create_todo", title="Water the plants"),
            plane.registry("todo"),
            plane.discovery("todo"),
            plane.connected("todo"),
            True,
        )
        running.interrupt()
        running.wait(30)
        child = Path(f"/proc/{first.connection['process_handle']}")
        first.child_left = child.exists()
        listed = {slug: one.entry() for slug, one in programs(folder, files).items()}
        todo = [sys.executable, "-m", "examples.todo_server", "--var-dir", str(made.folder)]
        listed["todo-server"] = {"command": todo, "directory": str(PROJECT_DIR)}
        made.up(UPSTREAM_COMMANDS=json.dumps(listed)).wait_until_running()
        yield plane, first


@pytest.fixture(scope="package")
def plane(starts: tuple[Plane, FirstStart], folder: Path, files: Path, http_url: str) -> Plane:
    """The control plane with the reference servers behind it."""
    made, _ = starts
    local = programs(folder, files)
    rows: list[dict[str, Any]] = [
        {
            "slug": slug,
            "transport": "stdio",
            "command": slug,
            "connect_at_start": True,
            "environment": dict(program.environment),
        }
        for slug, program in local.items()
    ]
    made.add(*rows)
    # After the others: names go to who comes first.
    made.add(
        {
            "slug": OVER_HTTP,
            "url": http_url,
            "allowed_networks": ["127.0.0.0/8"],
            "connect_at_start": True,
        }
    )
    return made
