"""Streamable HTTP on the wire: what is sent, and the session that is kept."""

from __future__ import annotations

import json

import pytest

from tests.tools.backends.upstream.raw_http import (
    Asked,
    error,
    reply,
    result,
    serving,
)
from tests.tools.backends.upstream.transports.http_answers import fine
from tests.tools.backends.upstream.transports.talk import ACCEPTED, ask, asked, at, opened
from tools.backends.upstream.channel import (
    SessionExpired,
)
from tools.vault import seal


async def test_requests_carry_what_the_protocol_and_the_operator_want() -> None:
    headers = seal(json.dumps({"Authorization": "Bearer hunter2", "X-Team": "a"}))
    async with serving(fine) as server:
        async with opened(at(server.url + "?a=1#part", headers=headers)) as channel:
            await asked(channel, ask(1, text="ü"), {"MCP-Protocol-Version": "2025-11-25"})
        (request,) = server.asked
    assert (request.method, request.path) == ("POST", "/mcp?a=1")
    assert request.header("Accept") == "application/json, text/event-stream"
    assert request.header("Content-Type") == "application/json"
    assert request.header("Authorization") == "Bearer hunter2"
    assert (request.header("X-Team"), request.header("Cookie")) == ("a", "")
    assert request.header("MCP-Protocol-Version") == "2025-11-25"
    assert request.header("Host") == f"127.0.0.1:{server.port}"
    assert request.message["params"] == {"text": "ü"}


async def test_a_session_is_kept_and_ended() -> None:
    def answer(request: Asked) -> bytes:
        if request.method == "DELETE":
            return reply(b"", 200)
        given = {"Mcp_Session_Id": "s-1"} if request.message.get("id") == 1 else {}
        body = result(request, ok=True) if "id" in request.message else b""
        return reply(body, 200 if body else 202, **given)

    async with serving(answer) as server:
        async with opened(at(server.url)) as channel:
            await asked(channel, ask(1))
            await channel.notify(ACCEPTED, {})
            await asked(channel, ask(2))
        sent = [(one.method, one.header("Mcp-Session-Id")) for one in server.asked]
    assert sent == [("POST", ""), ("POST", "s-1"), ("POST", "s-1"), ("DELETE", "s-1")]


async def test_cookies_are_not_kept() -> None:
    def answer(request: Asked) -> bytes:
        return reply(result(request), Set_Cookie="a=1")

    async with serving(answer) as server, opened(at(server.url)) as channel:
        await asked(channel, ask(1))
        await asked(channel, ask(2))
        assert [one.header("Cookie") for one in server.asked] == ["", ""]


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "Session not found"), (404, ""), (400, "No valid session ID provided")],
)
async def test_a_session_that_the_server_forgot_is_told_apart(status: int, words: str) -> None:
    def answer(request: Asked) -> bytes:
        if request.method == "DELETE" or request.message["id"] == 1:
            body = result(request) if request.body else b""
            return reply(body, Mcp_Session_Id="s-1")
        return reply(error(request, -32001, words) if words else b"gone", status)

    async with serving(answer) as server, opened(at(server.url)) as channel:
        await asked(channel, ask(1))
        with pytest.raises(SessionExpired) as told:
            await asked(channel, ask(2))
        assert not told.value.sent
        with pytest.raises(SessionExpired):
            await channel.notify(ask(3), {})
