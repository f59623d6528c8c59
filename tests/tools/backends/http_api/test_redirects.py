"""Redirects: followed by hand, every hop checked, nothing told to strangers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http_server import HttpServer, Reply, http_server, json_reply
from tests.tools.backends.http_api.calls import body_field, call, get, post, query, service
from tests.tools.backends.http_api.certificates import certified
from tools.backends.http_api import HttpApiBackend
from tools.errors import ExecutionFailed
from tools.operations import Operation, Parameter, Place
from tools.vault import seal


@pytest.fixture
def other() -> Iterator[HttpServer]:
    with http_server(always=json_reply({"from": "other"})) as running:
        yield running


def moved(location: str, status: int = 302) -> Reply:
    return Reply(status, b"", "", {"Location": location})


async def test_a_redirect_on_the_same_server_is_followed_with_credentials(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.behave(moved("/v2/things?a=1#part"), json_reply({"ok": 1}))
    api = service(server.url, auth="bearer", secret=seal("token-0123456789"))
    assert await call(backend, api, get()) == {"ok": 1}
    assert [asked.target for asked in server.asked] == ["/things", "/v2/things?a=1"]
    assert [asked.header("authorization") for asked in server.asked] == [
        "Bearer token-0123456789"
    ] * 2


@pytest.mark.parametrize("auth", ["bearer", "basic", "header", "cookie", "query"])
async def test_another_origin_gets_no_credentials_and_nothing_of_the_operators(
    backend: HttpApiBackend, server: HttpServer, other: HttpServer, auth: str
) -> None:
    server.behave(moved(f"{other.url}/there"))
    api = service(
        server.url,
        auth=auth,
        auth_name="X-Api-Key",
        username="me",
        secret=seal("secret-0123456789"),
        headers={"X-Tenant": "acme"},
    )
    note = Parameter("note", "X-Note", Place.HEADER)
    assert await call(backend, api, get("/things", note), {"note": "mine"}) == {"from": "other"}
    [asked] = other.asked
    assert {name.lower() for name, _ in asked.headers} == {
        "host", "accept", "accept-encoding", "user-agent",
    }  # fmt: skip
    assert asked.target == "/there"
    assert asked.header("host") == f"127.0.0.1:{other.port}"


async def test_credentials_stay_away_when_the_way_leads_back(
    backend: HttpApiBackend, server: HttpServer, other: HttpServer
) -> None:
    server.behave(moved(f"{other.url}/there"), json_reply({"back": True}))
    other.behave(moved(f"{server.url}/here"))
    api = service(server.url, auth="bearer", secret=seal("token-0123456789"))
    assert await call(backend, api, get()) == {"back": True}
    assert server.asked[1].header("authorization") is None


async def test_a_redirect_to_a_private_address_is_refused(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    for location in (
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:127.0.0.2]/",
        "http://10.0.0.1/",
        "//192.168.0.1/x",
        "http://2852039166/",
    ):
        server.behave(moved(location))
        with pytest.raises(ExecutionFailed, match="may not be called"):
            await call(backend, service(server.url), get())


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://x/", "javascript:1", "http://[", "data:,x"],
)  # fmt: skip
async def test_a_redirect_to_what_is_no_web_address_is_refused(
    backend: HttpApiBackend, server: HttpServer, location: str
) -> None:
    server.behave(moved(location))
    with pytest.raises(ExecutionFailed, match="no address of a web server"):
        await call(backend, service(server.url), get())


async def test_redirects_without_end_are_given_up(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = moved("/again")
    with pytest.raises(ExecutionFailed, match="more than 5 times"):
        await call(backend, service(server.url), get())
    assert len(server.asked) == 6


async def test_see_other_fetches_what_was_made(backend: HttpApiBackend, server: HttpServer) -> None:
    server.behave(moved("/things/1", 303), json_reply({"id": 1}))
    assert await call(backend, service(server.url), post("/things", body_field("a")), {"a": 1}) == {
        "id": 1
    }
    assert [(asked.method, asked.body) for asked in server.asked] == [
        ("POST", b'{"a":1}'),
        ("GET", b""),
    ]
    assert server.asked[1].header("content-type") is None


async def test_a_kept_method_takes_its_body_along(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.behave(moved("/v2", 307))
    await call(backend, service(server.url), post("/v1", body_field("a")), {"a": 1})
    assert [(asked.method, asked.path, asked.body) for asked in server.asked] == [
        ("POST", "/v1", b'{"a":1}'),
        ("POST", "/v2", b'{"a":1}'),
    ]


@pytest.mark.parametrize(
    ("status", "elsewhere"), [(301, False), (301, True), (302, True), (307, True), (308, True)]
)
async def test_a_write_that_has_moved_is_not_sent_elsewhere_or_made_a_read(
    backend: HttpApiBackend, server: HttpServer, other: HttpServer, status: int, elsewhere: bool
) -> None:
    server.always = moved(f"{other.url}/x" if elsewhere else "/x", status)
    for operation in (post("/v1"), Operation("DELETE", "/v1")):
        with pytest.raises(ExecutionFailed, match="has moved"):
            await call(backend, service(server.url), operation)
    assert [asked.path for asked in server.asked] == ["/v1", "/v1"]
    assert other.asked == []


async def test_a_redirect_cannot_begin_another_header_or_request(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.behave(moved("/a b\tc?x=\xe4"), json_reply({"ok": 1}))
    assert await call(backend, service(server.url), get("/", query("q")), {"q": "1"}) == {"ok": 1}
    assert server.asked[1].target == "/a%20b%09c?x=%E4"


async def test_a_redirect_from_encryption_to_none_is_refused(
    tmp_path: Path, other: HttpServer
) -> None:
    serving, trusting = certified(tmp_path, "localhost")
    backend = HttpApiBackend(certificates=lambda: trusting)
    with http_server(tls=serving, always=moved(f"{other.url}/there")) as server:
        api = service(f"https://localhost:{server.port}")
        with pytest.raises(ExecutionFailed, match="without encryption"):
            await call(backend, api, get())
        assert other.asked == []
        await backend.close()


async def test_a_redirect_without_a_place_to_go_is_told(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.behave(Reply(302, b""))
    with pytest.raises(ExecutionFailed, match="redirect to nowhere"):
        await call(backend, service(server.url), get())
