"""Fixtures around the OpenAI-compatible test server. A conftest imports the ones it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.openai_server import KEY, OpenAiServer, openai_server
from tools.conf import deployment
from tools.pipelines.blocks.endpoints import line
from tools.pipelines.blocks.endpoints.breaker import LocalBreakers, port
from tools.pipelines.blocks.endpoints.client import Api


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the breakers."""
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> Iterator[LocalBreakers]:
    """Breakers of this process that know of no failure, and go by the tests' clock."""
    before = port.breakers
    port.breakers = fresh = LocalBreakers(clock)
    yield fresh
    port.breakers = before


@pytest.fixture
def server(breakers: LocalBreakers) -> Iterator[OpenAiServer]:
    """An API that answers well until told otherwise."""
    with openai_server() as running:
        yield running
        line.idle.close()


@pytest.fixture
def api(server: OpenAiServer) -> Api:
    """That API as a language model."""
    return Api("llm_api", "The language model", server.endpoint)


@pytest.fixture
def configured(settings: Any, server: OpenAiServer) -> Iterator[Callable[..., None]]:
    """A deployment with the API as its language model; called with variables, it changes others."""

    def change(**values: Any) -> None:
        settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, **values}
        deployment.cache_clear()

    change(LLM_URL=server.url, LLM_API_KEY=KEY, LLM_MODEL="test-model")
    yield change
    deployment.cache_clear()
