"""Failures of APIs, as callers are told of them."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.http_server import HttpServer, Reply, http_server, json_reply
from tests.tools.backends.http_api.calls import call, get, post, service
from tools.backends.http_api import HttpApiBackend
from tools.errors import (
    ControlPlaneError,
    DeadlineExceeded,
    ExecutionFailed,
    InvalidArguments,
    RateLimited,
    TransportFault,
    UpstreamFailed,
)
from tools.operations import Operation


async def fails(backend: HttpApiBackend, url: str, **settings: Any) -> ControlPlaneError:
    api = service(url, **{"retries": 0, **settings})
    with pytest.raises(ControlPlaneError) as told:
        await call(backend, api, get())
    return told.value


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, InvalidArguments, False),
        (401, ExecutionFailed, False),
        (403, ExecutionFailed, False),
        (404, ExecutionFailed, False),
        (409, ExecutionFailed, False),
        (418, ExecutionFailed, False),
        (422, InvalidArguments, False),
        (429, RateLimited, True),
        (500, UpstreamFailed, True),
        (502, UpstreamFailed, True),
        (503, UpstreamFailed, True),
        (599, UpstreamFailed, True),
    ],
)
async def test_every_status_has_its_failure_and_a_suggestion(
    backend: HttpApiBackend,
    server: HttpServer,
    status: int,
    kind: type[ControlPlaneError],
    retryable: bool,
) -> None:
    # S4-071, F4-08, F4-22
    server.always = json_reply({"message": "so it is"}, status)
    error = await fails(backend, server.url)
    assert type(error) is kind
    assert error.retryable is retryable
    assert "so it is" in error.message
    assert error.details.suggestion
    assert getattr(error, "upstream_status", status) == status


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (json_reply({"detail": [{"loc": ["id"], "msg": "too short"}]}, 422), '[{"loc": ["id"], "msg": "too short"}]'),
        (json_reply({"error": {"code": 7, "message": "no such breed"}}, 400), 'no such breed {"code": 7}'),
        (json_reply({"title": "Bad", "detail": "id is text", "status": 400}, 400), "id is text; Bad"),
        (json_reply("just text", 400), "just text"),
        (json_reply([], 400), "[]"),
        (Reply(400, b"<html><body><h1>Bad</h1> id &amp; name</body>", "text/html"), "Bad id & name"),
        (Reply(400, b"plain\n  words", "text/plain"), "plain words"),
        (Reply(400, b""), "(400)"),
        (Reply(400, b"\xff\xfe\x00\x01garbage"), "(400)"),
        (json_reply({"message": "no", "password": "hunter2-hunter2"}, 400), "[redacted]"),
        (Reply(400, gzip.compress(b"packed"), "text/plain", {"Content-Encoding": "gzip"}), "packed"),
    ],
)  # fmt: skip
async def test_the_model_hears_what_the_api_says(
    backend: HttpApiBackend, server: HttpServer, reply: Reply, said: str
) -> None:
    # F4-08
    server.always = reply
    error = await fails(backend, server.url)
    assert said in error.message
    assert "hunter2" not in error.message


async def test_long_words_of_an_api_are_cut(backend: HttpApiBackend, server: HttpServer) -> None:
    server.always = Reply(400, b"x" * 3_000_000, "text/plain")
    error = await fails(backend, server.url)
    assert 500 < len(error.message) < 600
    assert error.message.endswith("…")


async def test_a_busy_api_tells_when_to_come_back(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    # F4-13
    server.behave(json_reply({}, 429, Retry_After="120"), json_reply({}, 503, Retry_After="45"))
    assert (await fails(backend, server.url)).details.retry_after == 120
    assert (await fails(backend, server.url)).details.retry_after == 45


async def test_a_dead_host_is_told_apart(backend: HttpApiBackend) -> None:
    # S4-065
    with http_server() as gone:
        url = gone.url
    error = await fails(backend, url)
    assert type(error) is TransportFault
    assert error.retryable


async def test_a_hanging_api_ends_at_its_own_limit(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(hang=True)
    error = await fails(backend, server.url, timeout_seconds=0.3)
    assert type(error) is UpstreamFailed
    assert error.message == "The API shop did not answer within 0.3 s"
    assert error.upstream_seconds == 0.3
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_a_hanging_api_ends_at_the_deadline_of_the_call(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(hang=True)
    with pytest.raises(DeadlineExceeded):
        await call(backend, service(server.url), get(), seconds=0.3)
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_an_answer_that_stalls_in_the_middle_ends_like_one_that_never_came(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(pieces=lambda: iter([b"[1,", b"2]"]), stall=True)
    error = await fails(backend, server.url, timeout_seconds=0.3)
    assert "did not answer within" in error.message


@pytest.mark.parametrize(
    "reply",
    [
        Reply(drop=True),
        Reply(short=True),
        Reply(raw=b"SSH-2.0-OpenSSH_9.0\r\n"),
        Reply(raw=b"HTTP/1.1 abc\r\n\r\n"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n"),
    ],
)
async def test_a_broken_connection_is_a_failure_of_the_api(
    backend: HttpApiBackend, server: HttpServer, reply: Reply
) -> None:
    server.always = reply
    error = await fails(backend, server.url)
    assert type(error) is UpstreamFailed
    assert "broke off" in error.message


def endless() -> Iterator[bytes]:
    while True:
        yield b" " * 100_000


def bomb() -> Iterator[bytes]:
    """A gigabyte of blanks in a megabyte."""
    packing = zlib.compressobj(9, wbits=31)
    for _ in range(1000):
        if piece := packing.compress(b" " * 1_000_000):
            yield piece
    yield packing.flush()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b" " * 5_000_001),
        Reply(pieces=endless),
        Reply(pieces=bomb, headers={"Content-Encoding": "gzip"}),
        Reply(body=gzip.compress(gzip.compress(b" " * 6_000_000)), headers={"Content-Encoding": "gzip, gzip"}),
    ],
)  # fmt: skip
async def test_answers_above_the_limit_are_refused_while_they_come(
    backend: HttpApiBackend, server: HttpServer, reply: Reply
) -> None:
    server.always = reply
    error = await fails(backend, server.url)
    assert type(error) is ExecutionFailed
    assert error.message == "The API shop gave more than 5 MB"
    assert "Ask for less" in str(error.details.suggestion)


PACKED = gzip.compress(b"[1, 2, 3]")


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (b"{}", "gzip"),
        (b"{}", "deflate"),
        (b"{}", "br"),
        (PACKED, "gzip, gzip, gzip"),
        (PACKED[:-9], "gzip"),
        (gzip.compress(b"") * 2_000, "gzip"),
        (PACKED + PACKED[:12] + b"garbage", "gzip"),
    ],
)
async def test_an_answer_that_is_not_compressed_as_it_says_cannot_be_read(
    backend: HttpApiBackend, server: HttpServer, body: bytes, coding: str
) -> None:
    server.always = Reply(body=body, headers={"Content-Encoding": coding})
    error = await fails(backend, server.url)
    assert "cannot be read" in error.message


async def test_a_failure_is_told_even_if_its_words_cannot_be_read(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(404, b"garbage", headers={"Content-Encoding": "gzip"})
    error = await fails(backend, server.url)
    assert error.message == "The API shop has nothing there (404)"


@pytest.mark.parametrize(
    ("packed", "coding"),
    [
        (gzip.compress(b'{"a": 1}'), "gzip"),
        (gzip.compress(b'{"a":') + gzip.compress(b" 1}"), "x-gzip"),
        (zlib.compress(b'{"a": 1}'), "deflate"),
        (zlib.compress(b'{"a": 1}', wbits=-15), "deflate"),
        (gzip.compress(zlib.compress(b'{"a": 1}')), "deflate, gzip"),
    ],
)
async def test_compressed_answers_are_read(
    backend: HttpApiBackend, server: HttpServer, packed: bytes, coding: str
) -> None:
    server.always = Reply(body=packed, headers={"Content-Encoding": coding})
    assert await call(backend, service(server.url), get()) == {"a": 1}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "QUERY"])
async def test_failures_are_told_for_every_method(
    backend: HttpApiBackend, server: HttpServer, method: str
) -> None:
    server.always = json_reply({"message": "gone"}, 410)
    with pytest.raises(ExecutionFailed, match="has nothing there"):
        await call(backend, service(server.url), Operation(method, "/things"))


async def test_a_selection_that_fails_is_the_operators_to_correct(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = json_reply({"a": "text"})
    for select in ("a[", "sum(a)", "nothing_like_it()"):
        with pytest.raises(ExecutionFailed, match="the selection of its answer fails"):
            await call(backend, service(server.url), post(select=select))
