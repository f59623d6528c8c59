"""One control plane for all tests here, and the wrappers of a service for each file of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.wrappers.foreign import Foreign, foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.plane import Plane, running_plane
from tests.wrappers.running import load
from tools.wrappers.registry import ServiceEntry


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    with running_plane(tmp_path_factory.mktemp("plane")) as made:
        yield made


@pytest.fixture(scope="module")
def service() -> Iterator[Foreign]:
    with foreign([tool("look", "Looks.", word={"type": "string"})]) as made:
        yield made


@pytest.fixture(scope="module")
def module(service: Foreign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("clients")
    entry = ServiceEntry("seekr", f"{service.url}/", key_variable="CONTROL_PLANE_KEY")
    assert generate(folder, entry, types="python,cli,bash,typescript").errors == []
    return load(folder / "seekr" / "python" / "seekr_client.py")
