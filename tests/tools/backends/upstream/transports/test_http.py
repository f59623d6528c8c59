"""Streamable HTTP on the wire: what is sent, and what every kind of answer means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.doors import free_port
from tests.tools.backends.upstream.raw_http import (
    Answer,
    Asked,
    error,
    event,
    reply,
    result,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.talk import ACCEPTED, Heard, ask, asked, at, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
    Refused,
    SessionExpired,
    TooLarge,
)
from tools.vault import seal

Pieces = AsyncGenerator[bytes, None]
NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}
MEGABYTE = b"x" * (1 << 20)


def fine(request: Asked) -> bytes:
    return reply(result(request, ok=True)) if "id" in request.message else reply(b"", 202)


async def answered(answer: Answer, **changes: Any) -> Any:
    """What comes of one request to a server that answers like this."""
    async with serving(answer) as server, opened(at(server.url, **changes)) as channel:
        return await asked(channel, ask(1))


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


@pytest.mark.parametrize("status", [200, 400, 404])
async def test_an_error_of_the_protocol_is_an_answer_whatever_its_status(status: int) -> None:
    found = await answered(lambda one: reply(error(one, -32601, "unknown"), status))
    assert found["error"] == {"code": -32601, "message": "unknown"}
    assert found["id"] == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429, 500, 502, 503])
async def test_a_status_that_declines_is_told_with_its_number(status: int) -> None:
    with pytest.raises(Refused, match=f"answered with status {status}") as told:
        await answered(lambda one: reply(b"<html>no</html>", status, "text/html"))
    assert told.value.status == status


@pytest.mark.parametrize("status", [401, 403, 500])
async def test_refusals_of_callers_and_faults_of_servers_are_no_answers(status: int) -> None:
    words = "no, api_key=sk-0123456789abcdef0123456789abcdef is wrong"
    with pytest.raises(Refused) as told:
        await answered(lambda one: reply(error(one, -32000, words), status))
    assert told.value.status == status
    assert "sk-0123456789abcdef" not in str(told.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with serving(fine) as other:

        def elsewhere(request: Asked) -> bytes:
            return reply(b"", status, Location=f"{other.url}?key=hunter2")

        with pytest.raises(Refused, match="which is not followed") as told:
            await answered(elsewhere, headers=seal('{"Authorization": "Bearer hunter2"}'))
        assert other.asked == []
    assert told.value.status == status
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    "body", [b"not JSON", b'{"jsonrpc": "2.0", "result"', b"\xff\xfe", b"7", b"[1]", b""]
)
async def test_answers_that_are_no_messages_are_garbage(body: bytes) -> None:
    with pytest.raises(Garbage):
        await answered(lambda one: reply(body))


@pytest.mark.parametrize(
    "raw",
    [
        reply(b"<html>Welcome</html>", 200, "text/html"),
        reply(b"", 202),
        reply(b"", 204),
        reply({"jsonrpc": "2.0", "id": 99, "result": {}}),
        reply({"hello": "world"}),
        reply([NOTICE]),
    ],
)
async def test_answers_to_nothing_that_was_asked_are_garbage(raw: bytes) -> None:
    with pytest.raises(Garbage):
        await answered(lambda one: raw)


@pytest.mark.parametrize("raw", [b"220 mail.example ESMTP\r\n\r\n", b"HTTP/1.1 abc OK\r\n\r\n"])
async def test_what_does_not_speak_http_is_told(raw: bytes) -> None:
    with pytest.raises(ChannelFault) as told:
        await answered(lambda one: raw)
    assert told.value.sent


async def test_a_batch_and_a_message_without_an_id_are_understood() -> None:
    heard = Heard()

    def batch(request: Asked) -> bytes:
        return reply([NOTICE, result(request, ok=1)])

    async with serving(batch) as server, opened(at(server.url), heard) as channel:
        assert (await asked(channel, ask(7)))["result"] == {"ok": 1}
    assert heard.messages == [(NOTICE, 7)]
    nameless = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    assert (await answered(lambda one: reply(nameless)))["error"]["code"] == -32700


async def test_a_stream_tells_notices_and_then_the_answer() -> None:
    heard = Heard()

    async def pieces(request: Asked) -> Pieces:
        whole = b": hello\n\n" + event(NOTICE, "event: message") + event(result(request, ok=1))
        yield stream_head()
        for place in range(0, len(whole), 7):
            yield whole[place : place + 7]

    async with serving(pieces) as server, opened(at(server.url), heard) as channel:
        assert (await asked(channel, ask(7)))["result"] == {"ok": 1}
    assert heard.messages == [(NOTICE, 7)]


async def test_a_stream_that_ends_without_an_answer_may_have_done_its_work() -> None:
    async def pieces(request: Asked) -> Pieces:
        yield stream_head() + event(NOTICE)

    with pytest.raises(ChannelFault, match="ended its stream before it answered") as told:
        await answered(pieces)
    assert told.value.sent


async def test_a_stream_that_breaks_is_continued_where_it_broke() -> None:
    first: list[Asked] = []

    async def pieces(request: Asked) -> Pieces:
        if request.method == "POST":
            first.append(request)
            yield stream_head(Mcp_Session_Id="s-1")
            yield event(NOTICE, "id: e-1", "retry: 1") + b'data: {"half'
        elif request.method == "GET":
            yield stream_head() + event(result(first[0], ok=1), "id: e-2")
        else:
            yield reply(b"")

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        assert (await asked(channel, ask(1)))["result"] == {"ok": 1}
        continued = server.asked[1]
        assert (continued.method, continued.header("Last-Event-ID")) == ("GET", "e-1")
        assert continued.header("Mcp-Session-Id") == "s-1"


async def large(request: Asked) -> Pieces:
    yield stream_head() + b"data: "
    for _ in range(25):
        yield MEGABYTE


async def large_body(request: Asked) -> Pieces:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    for _ in range(25):
        yield MEGABYTE


def large_by_its_word(request: Asked) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
    return head + b"{"


@pytest.mark.parametrize("answer", [large, large_body, large_by_its_word])
async def test_answers_larger_than_20_mb_are_not_read(answer: Any) -> None:
    with pytest.raises(TooLarge, match="larger than 20 MB"):
        await answered(answer)


async def test_a_connection_that_breaks_before_the_answer_may_have_done_its_work() -> None:
    with pytest.raises(ChannelFault, match="broke the connection") as told:
        await answered(lambda one: b"")
    assert told.value.sent


async def test_a_closed_port_is_told_as_such_and_nothing_was_sent() -> None:
    port = free_port()
    async with opened(at(f"http://127.0.0.1:{port}/mcp")) as channel:
        with pytest.raises(ChannelFault, match=f"127.0.0.1:{port} cannot be reached: ") as told:
            await asked(channel, ask(1))
    assert not told.value.sent


async def test_a_kept_connection_that_the_server_closed_is_not_taken_for_a_failure() -> None:
    def once(request: Asked) -> bytes:
        return reply(result(request, ok=True), Connection="close")

    async with serving(once) as server, opened(at(server.url)) as channel:
        for number in range(1, 4):
            assert (await asked(channel, ask(number)))["result"] == {"ok": True}


async def test_many_exchanges_go_on_at_once() -> None:
    waiting = asyncio.Event()

    async def pieces(request: Asked) -> Pieces:
        await waiting.wait()
        yield stream_head() + event(result(request, number=request.message["id"]))

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        running = [asyncio.create_task(asked(channel, ask(number))) for number in range(20)]
        await eventually(lambda: len(server.asked) == 20)
        waiting.set()
        answers = await asyncio.gather(*running)
    assert [one["result"]["number"] for one in answers] == list(range(20))


async def test_a_cancelled_exchange_hangs_up_and_the_next_one_works() -> None:
    gone = asyncio.Event()

    async def pieces(request: Asked) -> Pieces:
        yield stream_head()
        if request.message["id"] == 1:
            try:
                while True:
                    yield b": still here\n\n"
                    await asyncio.sleep(0.01)
            finally:
                gone.set()
        yield event(result(request, ok=True))

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        running = asyncio.create_task(asked(channel, ask(1)))
        await eventually(lambda: server.asked)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with asyncio.timeout(10):
            await gone.wait()
        assert (await asked(channel, ask(2)))["result"] == {"ok": True}


async def test_notices_are_followed_until_their_stream_ends() -> None:
    heard = Heard()

    async def pieces(request: Asked) -> Pieces:
        yield stream_head() + event(NOTICE) + event(NOTICE)

    async with serving(pieces) as server, opened(at(server.url), heard) as channel:
        await channel.listen({"MCP-Protocol-Version": "2025-11-25"})
        (request,) = server.asked
    assert heard.messages == [(NOTICE, None), (NOTICE, None)]
    assert (request.method, request.header("Accept")) == ("GET", "text/event-stream")
    assert request.header("Content-Type") == ""


async def test_a_server_without_a_stream_of_notices_is_no_fault() -> None:
    async with serving(lambda one: reply(b"", 405)) as server, opened(at(server.url)) as channel:
        await channel.listen({})
    async with serving(lambda one: reply(b"", 200)) as server, opened(at(server.url)) as channel:
        with pytest.raises(Garbage, match="no stream where one should be"):
            await channel.listen({})


async def test_a_closed_channel_takes_nothing_more() -> None:
    async with serving(fine) as server, opened(at(server.url)) as channel:
        await channel.close()
        await channel.close()
        assert channel.broken
        with pytest.raises(ChannelFault) as told:
            await asked(channel, ask(1))
        assert not told.value.sent


async def test_closing_the_channel_ends_what_is_under_way() -> None:
    async def silent(request: Asked) -> Pieces:
        yield stream_head() if request.message["id"] == 1 else b""
        await asyncio.Event().wait()

    async with serving(silent) as server, opened(at(server.url)) as channel:
        running = [asyncio.create_task(asked(channel, ask(number))) for number in (1, 2)]
        await eventually(lambda: len(server.asked) == 2)
        await channel.close()
        for one in running:
            with pytest.raises(ChannelFault) as told:
                await one
            assert told.value.sent


async def test_a_large_refusal_that_nobody_reads_does_not_stop_the_next_exchange() -> None:
    def answer(request: Asked) -> bytes:
        if request.message["id"] == 1:
            return reply(MEGABYTE * 3, 302, Location="/elsewhere")
        return reply(result(request, ok=True))

    async with serving(answer) as server, opened(at(server.url)) as channel:
        with pytest.raises(Refused):
            await asked(channel, ask(1))
        assert (await asked(channel, ask(2)))["result"] == {"ok": True}


async def test_a_server_that_wants_to_speak_another_protocol_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello"
    with pytest.raises(ChannelFault) as told:
        await answered(lambda one: upgrade)
    assert told.value.sent
    assert "Fatal error" not in caplog.text
