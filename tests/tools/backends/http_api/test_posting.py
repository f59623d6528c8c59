"""Events posted to receivers over the guarded network: what they get, and how failures are told."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http_server import HttpServer, Reply, http_server
from tests.tools.backends.http_api.certificates import certified
from tools.backends.http_api.outgoing import Answer
from tools.backends.http_api.posting import PostFault, post

HERE = ("127.0.0.0/8",)


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


async def sent(address: str, *, seconds: float = 10.0) -> Answer:
    headers = {"Content-Type": "application/json", "webhook-id": "msg_1"}
    return await post(address, headers, b'{"a":1}', networks=HERE, seconds=seconds)


async def fault(address: str, *, seconds: float = 10.0) -> str:
    with pytest.raises(PostFault) as raised:
        await sent(address, seconds=seconds)
    # Nothing of what was sent is behind it either.
    assert raised.value.__suppress_context__
    return str(raised.value)


async def test_body_headers_path_and_query_arrive_as_they_are(receiver: HttpServer) -> None:
    answer = await sent(f"{receiver.url}/hook%2F1?token=a%20b")
    (asked,) = receiver.asked
    assert (answer.status, asked.method, asked.target) == (200, "POST", "/hook%2F1?token=a%20b")
    assert (asked.body, asked.header("webhook-id")) == (b'{"a":1}', "msg_1")


async def test_address_without_a_path_is_asked_at_its_root(receiver: HttpServer) -> None:
    await sent(receiver.url)
    assert receiver.asked[0].target == "/"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_an_answer_like_any_other(receiver: HttpServer, status: int) -> None:
    receiver.always = Reply(status, headers={"Location": f"{receiver.url}/elsewhere"})
    assert (await sent(receiver.url)).status == status
    assert len(receiver.asked) == 1


async def test_receiver_that_hangs_is_left_after_the_limit(receiver: HttpServer) -> None:
    receiver.always = Reply(hang=True)
    assert await fault(receiver.url, seconds=0.2) == "no answer within 0.2 s"
    assert receiver.hung_up.wait(20)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(drop=True), "it broke off the connection, or does not speak HTTP"),
        (Reply(raw=b"SSH-2.0-nothing\r\n"), "it broke off the connection, or does not speak HTTP"),
    ],
)
async def test_answer_that_is_none_is_told(receiver: HttpServer, reply: Reply, told: str) -> None:
    receiver.always = reply
    assert await fault(receiver.url) == told


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"x" * 9_000_000),
        Reply(body=gzip.compress(b"x" * 9_000_000), headers={"Content-Encoding": "gzip"}),
        Reply(body=b"plain", headers={"Content-Encoding": "gzip"}),
    ],
)
async def test_body_of_an_answer_does_not_matter(receiver: HttpServer, reply: Reply) -> None:
    receiver.always = reply
    assert (await sent(receiver.url)).status == 200


async def test_receiver_that_nobody_vouches_for_is_told(tmp_path: Path) -> None:
    serving, _ = certified(tmp_path, "localhost")
    with http_server(tls=serving) as receiver:
        assert await fault(receiver.url) == "it does not prove that it is this host"
        assert receiver.asked == []


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ftp://127.0.0.1/", "its address is none of a web server"),
        ("http://nobody.invalid/", "its name is not known"),
        ("http://127.0.0.1:1/", "no connection"),
        ("http://10.11.12.13/", "it is at an address that is not allowed"),
        ("http://169.254.169.254/latest", "it is at an address that is not allowed"),
    ],
)
async def test_address_that_cannot_be_asked_is_told(address: str, told: str) -> None:
    assert (await fault(address)).startswith(told)


async def test_network_that_is_none_is_told(receiver: HttpServer) -> None:
    with pytest.raises(PostFault, match="no network"):
        await post(receiver.url, {}, b"", networks=["here"], seconds=10)
