"""The same call gives the same answer, and the same failure looks as errors.py says, on every door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.faults.failures import failures
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way, user_of
from tests.workers import database_url
from tools.errors import ControlPlaneError, McpKind, ReportedByTool

# What travels beside an answer and differs from call to call.
PASSING = {"request_id", "timestamp"}
VALUES: dict[str, Any] = {
    "text": 'grüße, 世界 🐑\n"quoted" \\ and \u2028',
    "number": 1.5,
    "whole": 12345678901234567,
    "nothing": None,
    "nested": {"list": [1, [2, {"three": True}]]},
}


def over_rest(door: RestDoor, arguments: dict[str, Any]) -> dict[str, Any]:
    return dict(door.call("echo", arguments).json())


def over_the_command_line(arguments: dict[str, Any]) -> dict[str, Any]:
    """As an operator types it, beside the running service."""
    done = subprocess.run(
        [sys.executable, "manage.py", "call_tool", "echo", json.dumps(arguments)],
        env={**os.environ, "DATABASE_URL": database_url()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return dict(json.loads(done.stdout))


def test_every_door_gives_the_same_answer(door: RestDoor, backend: FakeBackend) -> None:  # F0-13
    make_tool(name="echo", input_schema={"type": "object", "properties": {"n": {"default": 7}}})
    expected = over_rest(door, VALUES)["data"]
    assert expected == {"echo": {**VALUES, "n": 7}}
    assert over_the_command_line(VALUES)["data"] == expected
    for way in WAYS:
        with user_of(door.url, way) as user:
            result = user.call("echo", VALUES)
        assert result.structured_content == expected, way
        assert json.loads(result.content[0].text) == expected, way
        assert result.meta.keys() >= {*PASSING, "execution_time_ms"}, way


@pytest.mark.parametrize("name", failures())
def test_every_failure_looks_the_same(  # S4-060 S4-061 S4-063 S4-064 S4-065 S4-070 S4-071 S4-088 C15
    door: RestDoor, backend: FakeBackend, name: str
) -> None:
    make_tool(name="echo")
    error = failures()[name]
    assert error.message
    assert error.details.suggestion, "a model must be told what to do"
    _compare_envelope(over_rest(door, {"fail": name}), error)
    for way in WAYS[:2] + WAYS[-1:]:
        _compare(door, way, error)


@pytest.mark.parametrize("name", ["InvalidArguments", "DeadlineExceeded", "InternalFault"])
def test_failures_look_so_on_the_command_line_too(door: RestDoor, name: str) -> None:
    make_tool(name="echo")
    door.start()
    _compare_envelope(over_the_command_line({"fail": name}), failures()[name])


def _compare_envelope(answer: dict[str, Any], error: ControlPlaneError) -> None:
    assert (answer["error"], answer["code"]) == (error.message, error.code)
    assert answer["meta"].get("details", {}) == error.details.to_wire()


def _compare(door: RestDoor, way: Way, error: ControlPlaneError) -> None:
    with user_of(door.url, way) as user:
        if error.mcp_kind is McpKind.PROTOCOL:
            with pytest.raises(MCPError) as raised:
                user.call("echo", {"fail": type(error).__name__})
            got = raised.value.error
            assert (got.code, got.message) == (error.mcp_code, error.message)
            data = {
                name: value for name, value in got.data.items() if name not in PASSING | {"uri"}
            }
            assert data == error.details.to_wire()
            return
        result = user.call("echo", {"fail": type(error).__name__})
    assert result.is_error is True
    body = {"code": error.mcp_code, "message": error.message, "data": error.details.to_wire()}
    assert result.structured_content == {"error": body}
    if isinstance(error, ReportedByTool):
        # A model reads the tool's own words.
        assert result.content[0].text == error.message
    else:
        assert json.loads(result.content[0].text) == {"error": body}
    assert result.meta["code"] == error.code


def test_a_cause_stays_inside_on_every_door(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    door.start()
    for way in WAYS:
        with user_of(door.url, way) as user, pytest.raises(MCPError) as raised:
            user.call("echo", {"fail": "bug"})
        assert raised.value.code == -32603
        assert "hunter2" not in repr(raised.value.error)


def test_a_key_that_is_switched_off_stops_open_connections_too(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_service(security_api_keys_enabled=True)
    client, key = make_client(toolsets=[make_toolset(tools=[make_tool(name="echo")])])
    door.start()

    def refused(user: Any) -> bool:
        try:
            user.call("echo")
        except MCPError as error:
            return "switched off" in error.message
        return False

    with user_of(door.url, WAYS[4], key=key) as user:
        assert user.call("echo").is_error is False
        client.enabled = False
        client.save()
        wait_until(lambda: refused(user), what="the refusal")
