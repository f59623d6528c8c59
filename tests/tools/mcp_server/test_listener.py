"""The MCP_* variables: what they may be, and what is said about those that cannot be used."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tests.project.pages import REFERENCE, read, rows, section
from tools.contracts import Transport
from tools.mcp_server.listener import VARIABLES, TransportSettings, TransportType


def test_transports_have_the_names_used_everywhere() -> None:
    # S4-053 C04
    assert [member.value for member in TransportType] == [
        "stdio",
        "sse",
        "streamable_http",
        "websocket",
        "both",
    ]
    assert {member.network for member in TransportType} == {
        None,
        Transport.SSE,
        Transport.STREAMABLE_HTTP,
        Transport.WEBSOCKET,
    }


def test_stdio_is_served_where_nothing_is_said() -> None:
    # S4-053 S4-054
    for environ in ({}, {"MCP_TRANSPORT": " ", "MCP_PORT": "", "MCP_TOOLSET": ""}):
        chosen = TransportSettings.from_environment(environ)
        assert chosen == TransportSettings()
        assert (chosen.transport, chosen.port, chosen.path) == (TransportType.STDIO, None, "")
        assert not chosen.reachable_from_network


@pytest.mark.parametrize(
    ("written", "transport", "path"),
    [
        ("http-sse", TransportType.SSE, "/sse"),
        ("HTTP-SSE", TransportType.SSE, "/sse"),
        ("sse", TransportType.SSE, "/sse"),
        ("WebSocket", TransportType.WEBSOCKET, "/ws"),
        ("streamable_http", TransportType.STREAMABLE_HTTP, "/mcp"),
        ("Streamable-HTTP", TransportType.STREAMABLE_HTTP, "/mcp"),
        (" both ", TransportType.BOTH, "/sse"),
    ],
)
def test_transport_is_read_without_regard_to_case(
    written: str, transport: TransportType, path: str
) -> None:
    # S4-054 C04 F0-28
    chosen = TransportSettings.from_environment({"MCP_TRANSPORT": written, "MCP_PORT": "8000"})
    assert (chosen.transport, chosen.port, chosen.path) == (transport, 8000, path)
    assert chosen.host == "127.0.0.1"


def test_all_variables_are_read() -> None:
    chosen = TransportSettings.from_environment(
        {
            "MCP_TRANSPORT": "websocket",
            "MCP_PORT": " 9000 ",
            "MCP_HOST": "10.0.0.7",
            "MCP_MAX_CONNECTIONS": "5",
            "MCP_TOOLSET": "rag",
        }
    )
    expected = TransportSettings(TransportType.WEBSOCKET, 9000, "10.0.0.7", 5, "rag")
    assert chosen == expected
    assert chosen.reachable_from_network
    with pytest.raises(FrozenInstanceError):
        chosen.port = 80  # type: ignore[misc]


def test_unknown_transport_is_refused_with_the_valid_ones() -> None:
    # S4-055
    with pytest.raises(ValueError, match="MCP_TRANSPORT") as refused:
        TransportSettings.from_environment({"MCP_TRANSPORT": "grpc"})
    for name in ("stdio", "http-sse", "websocket", "streamable_http", "both", "'grpc'"):
        assert name in str(refused.value)


@pytest.mark.parametrize("transport", ["http-sse", "websocket", "streamable_http", "both"])
def test_network_transport_needs_a_port(transport: str) -> None:
    # S4-056
    with pytest.raises(ValueError, match="MCP_PORT is required"):
        TransportSettings.from_environment({"MCP_TRANSPORT": transport})


@pytest.mark.parametrize("transport", ["http-sse", "websocket"])
@pytest.mark.parametrize("port", ["80", "1023", "65536", "-8000", "abc", "8000.5", "0x1f90"])
def test_port_outside_its_range_is_refused(transport: str, port: str) -> None:
    # S4-057 T07
    with pytest.raises(ValueError, match="MCP_PORT must be a whole number from 1024 to 65535"):
        TransportSettings.from_environment({"MCP_TRANSPORT": transport, "MCP_PORT": port})


@pytest.mark.parametrize("port", ["1024", "65535"])
def test_port_at_the_edge_of_its_range_is_taken(port: str) -> None:
    # S4-057
    given = {"MCP_TRANSPORT": "http-sse", "MCP_PORT": port}
    assert TransportSettings.from_environment(given).port == int(port)


def test_stdio_with_a_port_is_refused() -> None:
    # S4-058
    for environ in ({"MCP_PORT": "8000"}, {"MCP_TRANSPORT": "stdio", "MCP_PORT": "8000"}):
        with pytest.raises(ValueError, match="MCP_PORT must be unset"):
            TransportSettings.from_environment(environ)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MCP_MAX_CONNECTIONS", "0"),
        ("MCP_MAX_CONNECTIONS", "many"),
        ("MCP_MAX_CONNECTIONS", "100001"),
        ("MCP_HOST", "not an address"),
    ],
)
def test_value_that_cannot_be_used_is_refused_by_name(name: str, value: str) -> None:
    given = {"MCP_TRANSPORT": "sse", "MCP_PORT": "8000", name: value}
    with pytest.raises(ValueError, match=name) as refused:
        TransportSettings.from_environment(given)
    assert value in str(refused.value)


def test_the_reference_lists_the_variables_as_the_code_has_them() -> None:
    page = section(read(REFERENCE / "settings.md"), "## MCP listeners")
    assert [tuple(row) for row in rows(page)] == [
        (f"`{name}`", *others) for name, *others in VARIABLES
    ]
