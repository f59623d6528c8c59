"""The test API, what stands around it, and an index to answer from."""

import pytest

from tests.openai_fixtures import api, breakers, clock, configured, server
from tests.tools.pipelines.blocks.generation.support import SmallIndex

__all__ = ["api", "breakers", "clock", "configured", "server"]


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> SmallIndex:
    """Four short passages and their sentences."""
    return SmallIndex(tmp_path_factory.mktemp("sentences"))
