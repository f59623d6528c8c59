"""Where HTTP connections to servers go, and what is said when there is none."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.doors import free_port
from tests.tools.backends.http_api.certificates import certified
from tests.tools.backends.upstream.transports.talk import ask, at
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.transports.http import StreamableHttpChannel

HOST = "mcp.example.org"
BODY = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"


@asynccontextmanager
async def serving(
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers one request per connection; its port and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER % (len(BODY), BODY))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


async def asked_at(
    url: str, addresses: Sequence[str], trusted: ssl.SSLContext | None = None
) -> Any:
    """What the server at `url` answers, when its name has these addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    channel = StreamableHttpChannel(
        at(url),
        lambda message, request_id: None,
        resolve=resolve,
        certificates=lambda: trusted or ssl.create_default_context(),
    )
    await channel.open()
    try:
        async with asyncio.timeout(20):
            return (await channel.exchange(ask(1), {}))["result"]
    finally:
        await channel.close()


async def test_tls_is_checked_against_the_name_though_the_address_is_connected_to(
    tmp_path: Path,
) -> None:
    mine, trusted = certified(tmp_path, HOST)
    async with serving(mine) as (port, asked):
        assert await asked_at(f"https://{HOST}:{port}/mcp", ["127.0.0.1"], trusted) == {"ok": True}
        assert f"Host: {HOST}:{port}\r\n".encode() in asked[0]
        for url, trust in (
            (f"https://other.example.org:{port}/mcp", trusted),
            (f"https://{HOST}:{port}/mcp", None),
        ):
            with pytest.raises(ChannelFault, match="does not prove that it is this host") as fault:
                await asked_at(url, ["127.0.0.1"], trust)
            assert not fault.value.sent


async def test_the_next_address_is_tried_when_one_takes_no_connection() -> None:
    async with serving() as (port, _):
        found = await asked_at(f"http://{HOST}:{port}/mcp", ["127.0.0.9", "127.0.0.1"])
    assert found == {"ok": True}


async def test_a_closed_port_is_told_in_the_words_of_the_system() -> None:
    with pytest.raises(ChannelFault, match="cannot be reached: connection refused") as fault:
        await asked_at(f"http://{HOST}:{free_port()}/mcp", ["127.0.0.1"])
    assert not fault.value.sent


async def test_only_addresses_in_allowed_networks_are_connected_to() -> None:
    async with serving() as (port, asked):
        with pytest.raises(ChannelFault, match="may not be called") as fault:
            await asked_at(f"http://{HOST}:{port}/mcp", ["10.0.0.1"])
        assert (fault.value.sent, asked) == (False, [])
        # One that may not be used does not stand in the way of one that may.
        assert await asked_at(f"http://{HOST}:{port}/mcp", ["10.0.0.1", "127.0.0.1"])


async def test_a_name_without_an_address_is_told() -> None:
    with pytest.raises(ChannelFault, match=f"{HOST} has no address") as fault:
        await asked_at(f"http://{HOST}/mcp", [])
    assert not fault.value.sent


async def test_name_and_password_in_the_address_are_presented_and_never_told() -> None:
    signed = base64.b64encode(b"me:secret").decode()
    async with serving() as (port, asked):
        await asked_at(f"http://me:secret@{HOST}:{port}/mcp", ["127.0.0.1"])
    assert f"Authorization: Basic {signed}\r\n".encode() in asked[0]
    with pytest.raises(ChannelFault) as fault:
        await asked_at(f"http://me:secret@{HOST}:{free_port()}/mcp", ["127.0.0.1"])
    assert "secret" not in str(fault.value)
