"""One control plane of real processes for all clients, and what each of them saw of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.visits import Plane
from tests.controlplane.stack import stack
from tests.processes import wait_until


@pytest.fixture(scope="package")
def plane() -> Iterator[Plane]:
    """A running control plane with something in its catalogue."""
    with stack() as started:
        started.up().wait_until_running()
        filled = started.manage(
            "shell", "--no-imports", "-c", "from tests.clients.rows import fill; fill()"
        )
        assert filled.returncode == 0, filled.stderr
        seeded = started.manage("seed_nsip", "--enable")
        assert seeded.returncode == 0, seeded.stderr
        wait_until(lambda: started.call("echo")[0] == 200, what="the tool echo")
        yield Plane(started)
