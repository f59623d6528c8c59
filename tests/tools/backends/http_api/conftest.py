"""An API on a real port, and the backend that calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.http_server import HttpServer, http_server
from tools.backends.http_api import HttpApiBackend


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as running:
        yield running


@pytest.fixture
async def backend() -> AsyncIterator[HttpApiBackend]:
    opened = HttpApiBackend()
    yield opened
    await opened.close()
