"""Which protocol a server behind HTTP speaks, from what it answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.backends.upstream.raw_http import Asked, RawServer, error, reply
from tests.tools.backends.upstream.scripted import (
    MODERN,
    discovered,
    methods,
    reached,
    scripted,
    welcome,
)
from tools.backends.upstream.channel import ChannelFault, Refused
from tools.backends.upstream.session import Session
from tools.upstreams import Era

BOTH: dict[str, Any] = {"server/discover": discovered(), "initialize": welcome()}


async def met(server: RawServer, era: Era = Era.AUTO) -> Session:
    """A session with the server, closed again."""
    session = Session(reached(server, era), lambda: None)
    try:
        await session.open()
        await session.request("tools/list")
        return session
    finally:
        await session.close()


def with_tools(**changes: Any) -> dict[str, Any]:
    named = {key.replace("__", "/"): value for key, value in changes.items()}
    return {**BOTH, "tools/list": {"tools": []}, **named}


@pytest.mark.parametrize(
    ("era", "version", "first"),
    [
        (Era.AUTO, MODERN, "server/discover"),
        (Era.MODERN, MODERN, "server/discover"),
        (Era.HANDSHAKE, "2025-06-18", "initialize"),
    ],
)
async def test_a_server_of_both_eras_is_met_as_it_is_configured(
    era: Era, version: str, first: str
) -> None:
    async with scripted(with_tools()) as server:
        session = await met(server, era)
        listing = server.asked[-1] if server.asked[-1].body else server.asked[-2]
        assert methods(server)[0] == first
    assert session.agreed.version == version
    assert session.agreed.modern is (version == MODERN)
    assert listing.header("MCP-Protocol-Version") == version
    assert listing.header("Mcp-Method") == ("tools/list" if session.agreed.modern else "")


async def test_every_request_of_the_stateless_era_says_who_asks() -> None:
    async with scripted(with_tools()) as server:
        await met(server)
        metas = [one.message["params"]["_meta"] for one in server.asked]
    assert {meta["io.modelcontextprotocol/protocolVersion"] for meta in metas} == {MODERN}
    assert {meta["io.modelcontextprotocol/clientInfo"]["name"] for meta in metas} == {
        "mcp-control-plane"
    }


@pytest.mark.parametrize(
    "old",
    [
        None,
        lambda one: reply(error(one, -32600, "Invalid request"), 400),
        lambda one: reply(error(one, -32000, "Bad Request: Server not initialized"), 400),
        lambda one: reply(error(one, -32000, "Unsupported protocol version"), 400),
        lambda one: reply(b"Not Found", 404, "text/plain"),
        lambda one: reply(b"", 405),
        lambda one: reply(b"", 202),
        lambda one: reply(b"not JSON"),
        lambda one: reply(b"<html></html>", 200, "text/html"),
        {},
        {"supportedVersions": ["2199-01-01"]},
        {"supportedVersions": "2026-07-28"},
    ],
)
async def test_whatever_is_no_clear_yes_means_the_handshake(old: Any) -> None:
    async with scripted(with_tools(server__discover=old)) as server:
        session = await met(server)
    assert session.agreed.version == "2025-06-18"


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_that_fails_is_not_taken_for_an_old_one(status: int) -> None:
    async with scripted(with_tools(server__discover=reply(b"", status))) as server:
        with pytest.raises(Refused) as told:
            await met(server)
        assert "initialize" not in methods(server)
    assert told.value.status == status


async def test_a_server_that_wants_credentials_is_told_as_such() -> None:
    refused = reply(b"", 401)
    answers = with_tools(server__discover=refused, initialize=refused)
    async with scripted(answers) as server:
        with pytest.raises(Refused, match="status 401"):
            await met(server)


@pytest.mark.parametrize("version", ["1999-01-01", "", None, 7, MODERN])
async def test_a_version_that_nobody_knows_is_told(version: Any) -> None:
    answers = with_tools(server__discover=None, initialize=welcome(version))
    async with scripted(answers) as server:
        with pytest.raises(ChannelFault, match="which is not known here"):
            await met(server)
        assert "notifications/initialized" not in methods(server)


async def test_a_server_that_does_not_speak_what_it_should_is_told_what_to_do() -> None:
    async with scripted(with_tools(server__discover=None)) as server:
        with pytest.raises(ChannelFault, match="set its protocol to automatic"):
            await met(server, Era.MODERN)
        assert "initialize" not in methods(server)


async def test_a_handshake_that_is_refused_tells_the_servers_words() -> None:
    def refuse(request: Asked) -> bytes:
        return reply(error(request, -32000, "no seats left"))

    async with scripted(with_tools(server__discover=None, initialize=refuse)) as server:
        with pytest.raises(ChannelFault, match="refused to initialize: no seats left"):
            await met(server)
