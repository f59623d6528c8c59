"""Calls to paste, pasted: into a shell and into Python, with values that are hard to quote."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tools.services.call_examples import Called, from_python, over_mcp, with_curl

HARD: dict[str, Any] = {
    "quotes": 'it\'s "quoted" `here` $(touch /tmp/never) $HOME \\ %s {}',
    "lines": "one\ntwo\ttab",
    "sheep": "🐑 ünïcödé \u2028",
    "numbers": [1, 2.5, -3, None, True],
    "nested": {"a'b": {"c": []}},
}


def pasted(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=30, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def call(door: RestDoor, backend: FakeBackend) -> Called:
    make_tool(name="echo")
    make_service(security_api_keys_enabled=True)
    _, key = make_client(toolsets=[make_toolset(includes_all=True)])
    door.start()
    return Called("echo", HARD | {"key": key}, door.url, "CONTROL_PLANE_KEY")


def test_curl_calls_it(call: Called) -> None:
    told = pasted(["bash", "-c", with_curl(call)], CONTROL_PLANE_KEY=call.arguments["key"])
    assert json.loads(told)["data"] == {"echo": call.arguments}


def test_python_calls_it(call: Called) -> None:
    program = from_python(call)
    told = pasted([sys.executable, "-c", program], CONTROL_PLANE_KEY=call.arguments["key"])
    assert told.strip() == repr({"echo": call.arguments})


def test_mcp_calls_it(call: Called) -> None:
    told = pasted(["bash", "-c", over_mcp(call)], CONTROL_PLANE_KEY=call.arguments["key"])
    message = json.loads(told.removeprefix("event: message\ndata: "))
    assert message["result"]["structuredContent"] == {"echo": call.arguments}


def test_keys_are_read_from_the_environment_where_they_are_needed() -> None:
    needed, free = Called("echo", {}, "http://x", "KEY"), Called("echo", {}, "http://x")
    for write in (with_curl, from_python, over_mcp):
        assert "KEY" in write(needed)
        assert "X-API-Key" not in write(free)
