"""HTTP with SSE: how it begins, and where it writes to."""

from __future__ import annotations

import json

import pytest

from tests.tools.backends.upstream.raw_http import (
    event,
    reply,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.sse_stream import Stream, reached
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
    Refused,
)
from tools.vault import seal

NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}


async def test_messages_go_to_the_address_that_the_server_names() -> None:
    headers = seal(json.dumps({"Authorization": "Bearer hunter2"}))
    heard = Heard()
    stream = Stream()
    async with (
        serving(stream) as server,
        opened(reached(server, headers=headers), heard) as channel,
    ):
        assert (await asked(channel, ask(1)))["result"] == {"ok": True}
        stream.say(event(NOTICE))
        await eventually(lambda: heard.messages)
        listening, posting = server.asked
    assert heard.messages == [(NOTICE, None)]
    assert (listening.method, listening.path) == ("GET", "/sse")
    assert listening.header("Accept") == "text/event-stream"
    assert (posting.method, posting.path) == ("POST", "/messages?session=1")
    assert {listening.header("Authorization"), posting.header("Authorization")} == {
        "Bearer hunter2"
    }


@pytest.mark.parametrize(
    "endpoint",
    [
        b"http://evil.example/messages",
        b"//evil.example/messages",
        b"http://127.0.0.1:1/messages",
        b"https://127.0.0.1/messages",
        b"http://[::1",
        b"\xff",
    ],
)
async def test_nothing_is_written_to_another_host(endpoint: bytes) -> None:
    stream = Stream(b"event: endpoint\ndata: " + endpoint + b"\n\n")
    async with serving(stream) as server:
        with pytest.raises(ChannelFault, match="written to at another host") as told:
            async with opened(reached(server)):
                pass
        assert not told.value.sent
        assert [one.method for one in server.asked] == ["GET"]


async def test_a_server_that_does_not_say_where_to_write_to_is_given_up() -> None:
    async with serving(Stream(b": hello\n\n")) as server:
        with pytest.raises(ChannelFault, match="did not say in time where to write to"):
            async with opened(reached(server, connect_timeout=0.2)):
                pass


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (reply(b"", 401), Refused),
        (reply(b"", 503), Refused),
        (reply(b"", 302, Location="http://127.0.0.1:1/"), Refused),
        (reply(b"<html></html>", 200, "text/html"), Garbage),
        (stream_head() + b"data: not JSON\n\n", ChannelFault),
    ],
)
async def test_a_server_that_has_no_stream_is_told(answer: bytes, fault: type[Exception]) -> None:
    async with serving(lambda one: answer) as server:
        with pytest.raises(fault):
            async with opened(reached(server)):
                pass
        assert len(server.asked) == 1
