"""HTTP/1.1 exchanges with servers that answer in every way the protocol allows, and in others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from yarl import URL

from tools.backends.upstream.transports.http1 import (
    MOST_HEAD_BYTES,
    BadHttp,
    Broken,
    Http1,
    written,
)

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
UNTIL_END = b"HTTP/1.0 200 OK\r\n\r\nhello"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + PLAIN


class Server:
    """Gives the same bytes to every request, in pieces of `size`; counts connections and requests."""

    def __init__(self, answer: bytes, size: int = 1 << 20, *, hang_up: bool = False) -> None:
        self.answer, self.size, self.hang_up = answer, size, hang_up
        self.connections = 0
        self.requests: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
                self.requests.append(head + await reader.readexactly(length))
                for start in range(0, len(self.answer), self.size):
                    writer.write(self.answer[start : start + self.size])
                    await writer.drain()
                if self.hang_up:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def talking(server: Server) -> AsyncIterator[Http1]:
    serving = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = serving.sockets[0].getsockname()[1]

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> asyncio.BaseProtocol:
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(protocol, "127.0.0.1", port))[1]

    http = Http1(connect, URL(f"http://127.0.0.1:{port}/mcp?x=1"))
    try:
        async with asyncio.timeout(20):
            yield http
    finally:
        http.close()
        serving.close()


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "answer", [PLAIN, CHUNKED, INTERIM], ids=["length", "chunks", "interim answer before"]
)
async def test_answers_are_read_however_they_are_cut(answer: bytes, size: int) -> None:
    server = Server(answer, size)
    async with talking(server) as http:
        for _ in range(3):
            reply = await http.request("POST", written({"Accept": "text/plain"}), b"body")
            assert (reply.status, await reply.read(), reply.at_eof()) == (200, b"hello", True)
    assert server.connections == 1
    assert server.requests[0].startswith(b"POST /mcp?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert server.requests[0].endswith(b"\r\nContent-Length: 4\r\n\r\nbody")


@pytest.mark.parametrize("answer", [LAST, UNTIL_END], ids=["said so", "body until the end"])
async def test_a_connection_the_server_ends_is_not_used_again(answer: bytes) -> None:
    server = Server(answer, hang_up=True)
    async with talking(server) as http:
        for _ in range(3):
            assert await (await http.request("POST")).read() == b"hello"
    assert server.connections == 3


async def test_exchanges_at_once_have_connections_of_their_own() -> None:
    server = Server(PLAIN)
    async with talking(server) as http:
        replies = await asyncio.gather(*(http.request("POST") for _ in range(10)))
        assert {await reply.read() for reply in replies} == {b"hello"}
        await (await http.request("POST")).read()
    assert 1 < server.connections <= 10


async def test_an_answer_that_breaks_off_is_told() -> None:
    async with talking(Server(PLAIN[:-2], hang_up=True)) as http:
        reply = await http.request("POST")
        assert await reply.readany() == b"hel"
        with pytest.raises(Broken):
            await reply.readany()


async def test_a_server_that_hangs_up_without_a_word_is_told() -> None:
    async with talking(Server(b"", hang_up=True)) as http:
        with pytest.raises(Broken):
            await http.request("POST")


@pytest.mark.parametrize(
    "answer",
    [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * (2 * MOST_HEAD_BYTES)],
    ids=["another protocol", "endless head"],
)
async def test_what_is_not_http_is_refused(answer: bytes) -> None:
    async with talking(Server(answer)) as http:
        with pytest.raises(BadHttp):
            await http.request("POST")


async def test_an_answer_nobody_reads_does_not_fill_the_memory() -> None:
    size = 16 << 20
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode()
    server = Server(head + b"x" * size, 1 << 16)
    async with talking(server) as http:
        reply = await http.request("POST")
        first = await reply.readany()
        assert 0 < len(first) < size // 2
        assert len(first) + len(await reply.read()) == size


async def test_an_answer_that_is_given_up_takes_its_connection_along() -> None:
    server = Server(PLAIN[:-2])
    async with talking(server) as http:
        reply = await http.request("POST")
        reply.close()
        server.answer = PLAIN
        assert await (await http.request("POST")).read() == b"hello"
    assert server.connections == 2


async def test_a_request_that_is_cancelled_hangs_up() -> None:
    server = Server(b"")
    async with talking(server) as http:
        asking = asyncio.create_task(http.request("POST"))
        while not server.requests:
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        server.answer = PLAIN
        assert await (await http.request("POST")).read() == b"hello"
    assert server.connections == 2


async def test_what_follows_an_answer_unasked_is_not_taken_for_the_next_one() -> None:
    server = Server(PLAIN + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfor")
    async with talking(server) as http:
        for _ in range(3):
            assert await (await http.request("POST")).read() == b"hello"
    assert server.connections == 3


async def test_headers_cannot_smuggle_in_others() -> None:
    server = Server(PLAIN)
    async with talking(server) as http:
        with pytest.raises(ValueError, match="more than one line"):
            await http.request("POST", written({"X": "1\r\nY: 2"}))
    assert server.requests == []


async def test_a_connection_that_was_silent_for_long_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tools.backends.upstream.transports import http1

    server = Server(PLAIN)
    async with talking(server) as http:
        await (await http.request("POST")).read()
        monkeypatch.setattr(http1, "IDLE_SECONDS", -1.0)
        await (await http.request("POST")).read()
    assert server.connections == 2
