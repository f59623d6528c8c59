"""A stream that ends before the answer and may be taken up again: nobody waits for its rest without end."""

from __future__ import annotations

import asyncio
import gzip
import threading
import zlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agent import texts
from agent.mcp_tools import Link
from agent.pulse import SILENT, Known
from agent.tool_server import ToolServer
from agent.watched import RESUMING_SECONDS
from tests.agent.inside.servers import answer_to, handshake
from tests.agent.inside.test_lost import ENDED, SECONDS, UNPACKED, cut, events, packed, refused
from tests.http_server import HttpServer, Reply, http_server

# The start of what a server sends that lets a stream be taken up again: its events have ids.
NAMED = b"id: 7\nretry: 20\ndata:\n\n"
NO_REST = "it ended the stream and did not begin with its rest"
# The header of a packed text that says that more of it follows than ever comes.
UNENDING = b"\x1f\x8b\x08\x04" + bytes(6) + b"\xff\xff"


@pytest.fixture
def resumable() -> Iterator[HttpServer]:
    """It answers the call with a stream that can be taken up again, and ends it."""
    with http_server() as server:
        server.behave(*handshake(), events(NAMED))
        yield server


def resumed(rest: Reply) -> Reply:
    """For whoever asks for the rest: a sign of life that a slow machine asks for before is not answered with it."""
    return replace(rest, only="GET")


async def test_a_packed_stream_is_unpacked_and_taken_up_again() -> None:
    first = packed(gzip.compress(NAMED), "text/event-stream")
    rest = gzip.compress(b"id: 8\ndata: " + answer_to(1, "tea tea") + b"\n\n")
    with http_server() as server:
        server.behave(*handshake(), first, resumed(packed(rest, "text/event-stream")))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}


async def test_a_stream_that_its_server_lets_be_taken_up_again_is(resumable: HttpServer) -> None:
    rest = b"id: 8\ndata: " + answer_to(1, "tea tea") + b"\n\n"
    resumable.behave(resumed(events(b"id: 7\ndata:\n\n")), resumed(events(rest)))
    link = Link(ToolServer(f"{resumable.url}/mcp"))
    async with asyncio.timeout(SECONDS):
        result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}
    asked = [one for one in resumable.asked if one.method == "GET"]
    assert [one.header("Last-Event-ID") for one in asked] == ["7", "7"]
    assert not link.lost


@pytest.mark.parametrize(
    "rest",
    [
        Reply(drop=True),
        Reply(404),
        Reply(200, b"<html>", "text/html"),
        cut(b": still here\n\n"),
    ],
    ids=["hung up", "404", "a page", "a broken stream"],
)
async def test_a_stream_that_cannot_be_taken_up_again_is_the_end(
    resumable: HttpServer, rest: Reply
) -> None:
    # S1-048 F1-11
    resumable.behave(resumed(rest))
    link = Link(ToolServer(f"{resumable.url}/mcp"))
    assert await refused(link) == texts.TOOLS_UNAVAILABLE
    assert link.lost


def one_by_one(*pieces: bytes, packing: str, stall: bool) -> Reply:
    """A packed stream in pieces; it is not ended if it is to stall."""
    named = {"Content-Encoding": packing}
    return Reply(200, b"", "text/event-stream", named, lambda: iter(pieces), stall=stall)


def packed_start() -> bytes:
    """A whole event with an id, packed, with more to follow."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packer.compress(NAMED) + packer.flush(zlib.Z_SYNC_FLUSH)


ENDS = {
    "asked for its rest it hangs": (events(NAMED), NO_REST),
    "not before an hour": (
        events(b"id: 7\nretry: 3600000\ndata:\n\n"),
        "it ended the stream and wants its rest asked for later",
    ),
    "an id that is none": (events(b"id: \0\ndata:\n\n"), ENDED),
    "an id that no header can hold": (events("id: 7é\ndata:\n\n".encode()), NO_REST),
    "an end of line in two": (events(b"id: 7\r", b"\n"), ENDED),
    "packed wrongly after an id": (
        one_by_one(packed_start(), b"no", packing="gzip", stall=False),
        NO_REST,
    ),
    "a packing without an end": (one_by_one(UNENDING, packing="gzip", stall=True), UNPACKED),
    "a packing that nobody knows": (one_by_one(NAMED, packing="x-odd", stall=True), UNPACKED),
}


@pytest.mark.parametrize("end", ENDS)
async def test_a_stream_of_which_nothing_more_comes_is_told_in_time(
    end: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-024 S1-048 F1-11 F2-06
    given, reason = ENDS[end]
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*handshake(), given)
        link = Link(ToolServer(f"{server.url}/mcp"))
        assert await refused(link) == texts.TOOLS_UNAVAILABLE
    assert link.lost
    (said,) = [one.getMessage() for one in caplog.records if one.name.startswith("agent")]
    assert said.startswith(f"MCP server was lost during a call of 'double': {reason}")


async def test_a_server_that_freezes_after_it_began_with_the_rest_is_told_in_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # S1-024 S1-048 F2-06
    begun = Reply(
        content_type="text/event-stream", pieces=lambda: iter([b": at work\n\n"]), stall=True
    )
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*handshake(), events(NAMED), resumed(begun))
        link = Link(ToolServer(f"{server.url}/mcp", known=Known(awake={"double": 1})))
        assert await refused(link) == texts.TOOLS_UNAVAILABLE
    assert f"MCP server was lost during a call of 'double': {SILENT}" in caplog.text


async def test_a_rest_that_is_long_in_coming_is_waited_for_once_it_has_begun() -> None:
    # C10
    def pieces() -> Iterator[bytes]:
        # Longer than it may take to begin.
        for _ in range(9):
            threading.Event().wait((RESUMING_SECONDS + 1) / 9)
            yield b": at work\n\n"
        yield b"data: " + answer_to(1, "tea tea") + b"\n\n"

    with http_server() as server:
        rest = Reply(content_type="text/event-stream", pieces=pieces)
        server.behave(*handshake(), events(NAMED), resumed(rest))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}


async def test_a_server_is_asked_to_pack_nothing() -> None:
    with http_server() as server:
        server.behave(*handshake(), Reply(200, answer_to(1, "tea tea")))
        await Link(ToolServer(f"{server.url}/mcp")).call("double", {"word": "tea"})
    assert {one.header("Accept-Encoding") for one in server.asked} == {"identity"}
