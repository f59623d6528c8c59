"""Credentials: where they go, and where they never do."""

from __future__ import annotations

import base64
import logging
from typing import Any
from urllib.parse import quote

import pytest

from tests.http_server import HttpServer, Reply, json_reply
from tests.tools.backends.http_api.calls import call, get, query, service, spec_of
from tools.backends.http_api import HttpApiBackend
from tools.errors import ControlPlaneError, ExecutionFailed
from tools.operations import Parameter, Place
from tools.vault import seal

SECRET = "s3cr3t/+=&-0123456789"
PAIR = base64.b64encode(f"me:{SECRET}".encode()).decode()
KINDS: list[tuple[dict[str, str], str, str]] = [
    ({"auth": "bearer"}, "authorization", f"Bearer {SECRET}"),
    ({"auth": "basic", "username": "me"}, "authorization", f"Basic {PAIR}"),
    ({"auth": "header", "auth_name": "X-Api-Key"}, "x-api-key", SECRET),
    ({"auth": "cookie", "auth_name": "sid"}, "cookie", "sid=s3cr3t%2F%2B%3D%26-0123456789"),
]


@pytest.mark.parametrize(("settings", "header", "value"), KINDS)
async def test_credentials_travel_in_their_header(
    backend: HttpApiBackend,
    server: HttpServer,
    settings: dict[str, Any],
    header: str,
    value: str,
) -> None:
    # F4-04
    await call(backend, service(server.url, secret=seal(SECRET), **settings), get())
    assert server.asked[0].header(header) == value


async def test_credentials_in_the_query_replace_an_argument_of_the_same_name(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    api = service(server.url, auth="query", auth_name="key", secret=seal(SECRET))
    await call(backend, api, get("/t", query("key"), query("q")), {"key": "mine", "q": "a"})
    assert server.asked[0].query == [("q", "a"), ("key", SECRET)]


async def test_no_argument_replaces_the_credentials(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    operation = get(
        "/t",
        Parameter("a", "authorization", Place.HEADER),
        Parameter("k", "x-api-key", Place.HEADER),
    )
    api = service(server.url, auth="header", auth_name="X-Api-Key", secret=seal(SECRET))
    await call(backend, api, operation, {"a": "Bearer mine", "k": "mine"})
    assert server.asked[0].header("x-api-key") == SECRET
    assert server.asked[0].header("authorization") is None


@pytest.mark.parametrize("settings", [kind[0] for kind in KINDS] + [{"auth": "query", "auth_name": "key"}])  # fmt: skip
async def test_a_secret_appears_in_no_log_no_failure_and_no_answer(
    backend: HttpApiBackend,
    server: HttpServer,
    settings: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F4-04
    caplog.set_level(logging.DEBUG)
    api = service(server.url, secret=seal(SECRET), retries=0, **settings)
    sent = PAIR if settings["auth"] == "basic" else SECRET
    echo = {"error": f"bad key {SECRET}", "sent": [f"Basic {sent}", quote(SECRET, safe="")]}
    shown: list[str] = []
    server.behave(*(json_reply(echo, status) for status in (400, 401, 403, 404, 409, 500)))
    server.behave(Reply(500, f"<h1>No {SECRET}</h1>".encode(), "text/html"))
    server.behave(Reply(200, f"not json {SECRET}".encode()), Reply(drop=True))
    for _ in range(9):
        with pytest.raises(ControlPlaneError) as told:
            await call(backend, api, get())
        error = told.value
        shown += [error.message, repr(error.details.to_wire()), repr(error), repr(error.__cause__)]
    server.behave(
        json_reply(echo), Reply(body=f"you sent {SECRET}".encode(), content_type="text/plain")
    )
    shown += [repr(await call(backend, api, get())) for _ in range(2)]
    shown += [repr(api), repr(spec_of(api, get()))]
    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    for text in shown:
        for form in (SECRET, PAIR, "s3cr3t%2F"):
            assert form not in text


@pytest.mark.parametrize(
    "settings",
    [
        {"auth": "bearer"},
        {"auth": "header", "secret": seal("x")},
        {"auth": "header", "auth_name": "X Y", "secret": seal("x")},
        {"auth": "header", "auth_name": "X-Key", "secret": seal("line\nfeed-secret")},
        {"auth": "bearer", "secret": "was never sealed"},
        {"auth": "kerberos", "secret": seal("x")},
    ],
)
async def test_credentials_that_cannot_be_sent_are_the_operators_to_correct(
    backend: HttpApiBackend, server: HttpServer, settings: dict[str, Any]
) -> None:
    with pytest.raises(ExecutionFailed, match="cannot be called") as told:
        await call(backend, service(server.url, **settings), get())
    assert "feed-secret" not in told.value.message
    assert "Tell the operator" in str(told.value.details.suggestion)
    assert server.asked == []
