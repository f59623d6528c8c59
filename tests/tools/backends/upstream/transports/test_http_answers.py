"""Streamable HTTP: answers that make sense, and those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.backends.upstream.raw_http import (
    Asked,
    reply,
    result,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.http_answers import MEGABYTE, NOTICE, Pieces, answered
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
    TooLarge,
)


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
