"""An upstream server as a value."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from tools.contracts import Transport
from tools.upstreams import Upstream, UpstreamTransport

HTTP = Upstream("todo", UpstreamTransport.STREAMABLE_HTTP, url="https://mcp.example.org/mcp")
STDIO = Upstream("todo", UpstreamTransport.STDIO, command="todo")


def test_transports_are_those_of_the_doors_but_for_plain_http() -> None:
    # S2-002, C04
    assert {one.value for one in UpstreamTransport} == {
        *("stdio", "sse", "streamable_http", "websocket")
    }
    assert {one.value for one in UpstreamTransport} <= {one.value for one in Transport}


@pytest.mark.parametrize("transport", [one for one in UpstreamTransport if one != "stdio"])
def test_a_server_behind_the_network_has_an_address_and_no_command(
    transport: UpstreamTransport,
) -> None:
    # C04
    with pytest.raises(ValueError, match="an address, no command"):
        Upstream("todo", transport)
    with pytest.raises(ValueError, match="an address, no command"):
        Upstream("todo", transport, url="https://mcp.example.org", command="todo")


@pytest.mark.parametrize("given", [{}, {"command": "todo", "url": "https://x.example"}])
def test_a_stdio_server_has_a_command_and_no_address(given: dict[str, Any]) -> None:
    # C04
    with pytest.raises(ValueError, match="a command and no address"):
        Upstream("todo", UpstreamTransport.STDIO, **given)


@pytest.mark.parametrize("limit", ["connect_timeout", "call_timeout"])
def test_time_limits_are_above_0_and_5_seconds_unless_told(limit: str) -> None:
    # C10
    assert getattr(HTTP, limit) == 5
    with pytest.raises(ValueError, match="above 0"):
        Upstream(**{**asdict(HTTP), limit: 0})


def test_a_server_is_called_by_its_name_and_guarded_by_its_slug() -> None:
    # C13
    assert (HTTP.name, HTTP.dependency) == ("todo", "mcp:todo")
    assert replace(HTTP, display_name="TodoDatabaseServer").name == "TodoDatabaseServer"


def test_what_is_sealed_does_not_show_when_a_server_is_printed() -> None:
    made = replace(HTTP, headers="sealed-headers")
    assert "sealed" not in repr(made)
    assert "sealed" not in repr(replace(STDIO, environment="sealed-environment"))


def test_servers_of_equal_settings_are_equal() -> None:
    # S2-013
    assert replace(HTTP) == HTTP
    assert replace(HTTP, headers="other") != HTTP
