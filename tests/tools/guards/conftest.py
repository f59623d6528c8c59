"""Fixtures of the guards' tests."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.tools.guards.support import OwnValkey
from tools.guards.redis import RedisLink


@pytest.fixture
def own_valkey() -> Iterator[OwnValkey]:
    """A server this test may stop and kill."""
    server = OwnValkey()
    yield server
    server.resume()
    server.remove()


@pytest.fixture
async def own_link(own_valkey: OwnValkey) -> AsyncIterator[RedisLink]:
    """A link to that server."""
    opened = RedisLink(own_valkey.url)
    yield opened
    await opened.close()


@pytest.fixture
async def other_link(link: RedisLink) -> AsyncIterator[RedisLink]:
    """A second connection to the same Redis, as another process has."""
    opened = RedisLink(link.url)
    yield opened
    await opened.close()


@pytest.fixture
def socket_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket."""
    with tempfile.TemporaryDirectory(prefix="cp-proxy-") as folder:
        yield Path(folder)
