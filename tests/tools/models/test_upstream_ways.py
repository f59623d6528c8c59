"""How an upstream server may be reached."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.models.refusals import database_refuses, model_refuses
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.upstreams import UpstreamTransport

pytestmark = pytest.mark.django_db
URL = "https://mcp.example.org/mcp"
NETWORK = [one.value for one in UpstreamTransport if one is not UpstreamTransport.STDIO]


def server(**changes: Any) -> UpstreamServer:
    return UpstreamServer(**{"slug": "todo", "url": URL, **changes})


def stdio(**changes: Any) -> UpstreamServer:
    return server(**{"transport": "stdio", "command": "todo-server", "url": "", **changes})


def test_a_stdio_server_has_a_command_and_no_address() -> None:
    # S2-002, S2-014, C04
    stdio().save()
    assert model_refuses(stdio(slug="a", command=""), "command")
    assert model_refuses(stdio(slug="b", url=URL), "url")
    database_refuses(stdio(slug="a", command=""), "upstream_has_command_or_url")
    database_refuses(stdio(slug="b", url=URL), "upstream_has_command_or_url")


@pytest.mark.parametrize("transport", NETWORK)
def test_a_server_behind_the_network_has_an_address_and_no_command(transport: str) -> None:
    # S2-002, C04
    server(transport=transport).save()
    assert model_refuses(server(slug="a", transport=transport, url=""), "url")
    assert model_refuses(server(slug="b", transport=transport, command="x"), "command")
    database_refuses(server(slug="a", transport=transport, url=""), "upstream_has_command_or_url")
    database_refuses(server(slug="b", transport=transport, command="x"))


@pytest.mark.parametrize(
    ("written", "kept"), [("http-sse", "sse"), ("streamable-http", "streamable_http")]
)
def test_what_others_call_a_transport_is_understood(written: str, kept: str) -> None:
    # C04
    row = make_upstream(transport=written)
    row.refresh_from_db()
    assert row.transport == kept


@pytest.mark.parametrize("transport", ["http", "carrier-pigeon", ""])
def test_an_unknown_transport_is_refused(transport: str) -> None:
    # C04
    assert model_refuses(server(transport=transport), "transport")
    database_refuses(server(transport=transport), "upstream_transport_known")


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://x", "http://", "http://x:0", "//", "http://[::1", "ürl://ü"]
)
def test_any_address_can_be_saved_and_is_warned_about(url: str) -> None:
    # S1-004, C11
    row = make_upstream(url=url)
    row.refresh_from_db()
    assert row.url == row.to_value().url == url
    assert address_warning(row.transport, url).startswith("The address does not look right")


def test_addresses_that_look_right_are_not_warned_about() -> None:
    # C11
    assert address_warning("streamable_http", URL) == ""
    assert address_warning("websocket", "wss://mcp.example.org/ws") == ""
    assert "ws:// or wss://" in address_warning("websocket", URL)
    assert "use headers" in address_warning("sse", "https://me:secret@x.example/sse")
    assert address_warning("streamable_http", "https://x.example/a b")
    assert address_warning("stdio", "anything") == ""
