"""One control plane for all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wrappers.plane import Plane, running_plane


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    with running_plane(tmp_path_factory.mktemp("plane")) as made:
        yield made
