"""The evaluation asks others for tools and for choices; what it cannot read it tells."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from agent.intents.model import ModelChooser, ModelFault
from agent.intents.wire import ControlPlane, WireFault
from tests.http_server import Reply, http_server, json_reply

DEEP = "[" * 200_000


def test_an_answer_nested_without_end_is_told() -> None:
    with http_server(always=Reply(200, DEEP.encode())) as server:
        with pytest.raises(WireFault, match="no JSON"):
            ControlPlane(server.url).tools()
        choose = ModelChooser(server.url, "", "deep", date(2026, 1, 1))
        with pytest.raises(ModelFault, match="deep: "):
            asyncio.run(choose("Hello", []))


def test_arguments_nested_without_end_count_as_none() -> None:
    message = {"tool_calls": [{"function": {"name": "look", "arguments": DEEP}}]}
    with http_server(always=json_reply({"choices": [{"message": message}]})) as server:
        chosen = asyncio.run(ModelChooser(server.url, "", "deep", date(2026, 1, 1))("Hello", []))
    assert chosen is not None
    assert (chosen.tool, dict(chosen.arguments)) == ("look", {})
