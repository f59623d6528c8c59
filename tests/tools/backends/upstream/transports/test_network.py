"""Where transports over the network may connect, and as whom."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django import Settings

from tests.tools.backends.upstream.raw_http import Asked, reply, result, serving
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.transports.http import StreamableHttpChannel
from tools.backends.upstream.transports.sse import SseChannel
from tools.backends.upstream.transports.websocket import WebSocketChannel
from tools.upstreams import UpstreamTransport
from tools.vault import seal

PUBLIC = "93.184.215.14"


def fine(request: Asked) -> bytes:
    return reply(result(request, ok=True))


def names(address: str) -> Any:
    """What DNS says of every name."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return [address]

    return resolve


async def called(channel: Any) -> Any:
    """The answer to the first request on a channel."""
    try:
        await channel.open()
        return await asked(channel, ask(1))
    finally:
        await channel.close()


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "017700000001", "0x7f.1", "0", "0.0.0.0"),  # noqa: S104
        *("localhost", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::1%25lo]", "[::]"),
        *("\u2460\u2461\u2466.\u24ea.\u24ea.\u2460", "127\u30020\u30020\u30021"),
    ],
)
async def test_no_spelling_of_this_machine_is_called_unless_it_is_allowed(host: str) -> None:
    async with serving(fine) as server:
        upstream = at(f"http://{host}:{server.port}/mcp", allowed_networks=())
        channel = StreamableHttpChannel(upstream, Heard())
        with pytest.raises(ChannelFault) as told:
            await called(channel)
        assert server.asked == []
        assert not told.value.sent


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"])
@pytest.mark.parametrize("kind", [StreamableHttpChannel, SseChannel, WebSocketChannel])
async def test_a_name_that_leads_into_a_private_network_is_not_called(
    kind: type[Any], address: str
) -> None:
    scheme, transport = {
        StreamableHttpChannel: ("https", UpstreamTransport.STREAMABLE_HTTP),
        SseChannel: ("http", UpstreamTransport.SSE),
        WebSocketChannel: ("wss", UpstreamTransport.WEBSOCKET),
    }[kind]
    upstream = at(f"{scheme}://mcp.example.org/x", allowed_networks=(), transport=transport)
    channel = kind(upstream, Heard(), resolve=names(address))
    with pytest.raises(ChannelFault, match="may not be called") as told:
        await called(channel)
    assert not told.value.sent


async def test_an_address_given_as_a_number_is_checked_before_it_is_called() -> None:
    channel = StreamableHttpChannel(at("http://169.254.169.254/", allowed_networks=()), Heard())
    with pytest.raises(ChannelFault, match="in no network that it is allowed"):
        await channel.open()


async def test_what_a_name_leads_to_is_checked_where_it_is_connected_to() -> None:
    async with serving(fine) as server:
        upstream = at(f"http://rebound.example:{server.port}/", allowed_networks=("127.0.0.1/32",))
        channel = StreamableHttpChannel(upstream, Heard(), resolve=names("127.0.0.1"))
        assert (await called(channel))["result"] == {"ok": True}
        # Connected to by number: what was checked is what is called.
        assert server.asked[0].header("Host") == f"rebound.example:{server.port}"
        again = StreamableHttpChannel(upstream, Heard(), resolve=names("127.0.0.2"))
        with pytest.raises(ChannelFault, match="may not be called"):
            await called(again)
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("not a url", "address"),
        ("ftp://x.example", "does not begin with http://"),
        ("ws://x.example", "does not begin with http://"),
        ("http://[::1", "cannot be read"),
        ("http://x.example:99999/", "cannot be read"),
    ],
)
async def test_an_address_that_is_none_fails_when_it_is_used(url: str, words: str) -> None:
    # S1-004, C11
    with pytest.raises(ChannelFault, match=words) as told:
        async with opened(at(url)):
            pass
    assert not told.value.sent


async def test_bad_networks_are_told() -> None:
    with pytest.raises(ChannelFault, match="is no network"):
        async with opened(at("http://127.0.0.1:1/", allowed_networks=("nonsense",))):
            pass


@pytest.mark.parametrize(
    "headers",
    [
        seal("not JSON"),
        seal("[1]"),
        seal('{"X-Key": 7}'),
        "never-sealed",
        *(seal(json.dumps({name: "hunter2"})) for name in ("Host", "accept", "Mcp-Session-Id")),
        seal(json.dumps({"X-Key": "hunter2\r\nX-Evil: 1"})),
        seal(json.dumps({"X-Kéy": "hunter2"})),
    ],
)
async def test_headers_that_cannot_be_sent_fail_without_their_values(headers: str) -> None:
    with pytest.raises(ChannelFault, match="its header") as told:
        async with opened(at("http://127.0.0.1:1/", headers=headers)):
            pass
    assert "hunter2" not in str(told.value)
    assert not told.value.sent


async def test_headers_sealed_with_a_lost_key_are_told(settings: Settings) -> None:
    headers = seal('{"X-Key": "hunter2"}')
    settings.SECRET_KEY = "another-key-than-the-one-that-sealed-it"
    with pytest.raises(ChannelFault, match="its headers"):
        async with opened(at("http://127.0.0.1:1/", headers=headers)):
            pass
