"""The NSIP stand-in, in the API's shape of today and in its older one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

# Its public client, without types.
from nsip_client import NSIPClient  # type: ignore[import-untyped]

from tests.nsip_server import NsipServer, nsip_server


@pytest.fixture
def api() -> Iterator[NsipServer]:
    """The API as it is today."""
    with nsip_server() as server:
        yield server


@pytest.fixture(params=["today", "older"])
def either(request: pytest.FixtureRequest) -> Iterator[NsipServer]:
    """The API in one shape, then in the other."""
    with nsip_server(older=request.param == "older") as server:
        yield server


@pytest.fixture
def client(either: NsipServer) -> Iterator[Any]:
    """What the world uses to read the API, pointed at the stand-in."""
    with NSIPClient(base_url=either.url) as reader:
        yield reader
