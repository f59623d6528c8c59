"""One Todo server, one scripted model, and one agent between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent.programs import Chat, chat
from tests.agent.scripts import Script
from tests.openai_server import OpenAiServer, openai_server
from tests.todo.programs import over_http

# What is in there runs with the agent's own packages; `test_inside` starts it.
collect_ignore = ["inside"]


@pytest.fixture(scope="package")
def mcp_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with five tools. The tests of clients have a whole control plane instead."""
    with over_http(str(tmp_path_factory.mktemp("todo") / "todo.sqlite3")) as server:
        yield server.url


@pytest.fixture(scope="package")
def running_model() -> Iterator[OpenAiServer]:
    with openai_server() as model:
        yield model


@pytest.fixture
def model(running_model: OpenAiServer) -> OpenAiServer:
    """It answers well, and remembers nothing of other tests."""
    running_model.always = None
    running_model.script = Script()
    running_model.requests.clear()
    return running_model


@pytest.fixture(scope="package")
def running_chat(mcp_url: str, running_model: OpenAiServer) -> Iterator[Chat]:
    variables = {"MODEL": "openai:scripted", "MODEL_BASE_URL": running_model.url}
    with chat(MCP_URL=mcp_url, **variables) as started:
        yield started


@pytest.fixture
def served(running_chat: Chat, model: OpenAiServer) -> Chat:
    """The agent over HTTP, between the model and the server."""
    return running_chat
