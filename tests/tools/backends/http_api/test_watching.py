"""What operators and callers see of requests under way."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.http_server import HttpServer, Reply, json_reply
from tests.tools.backends.http_api.calls import call, context, get, in_path, query, service, spec_of
from tools.backends.http_api import HttpApiBackend
from tools.backends.http_api.patience import Patience
from tools.backends.ports import ports
from tools.errors import UpstreamFailed
from tools.vault import seal


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [
        getattr(record, "fields", {})
        for record in caplog.records
        if record.name == "tools.backends.http_api.record"
    ]


async def test_every_request_is_one_line_without_values(
    backend: HttpApiBackend, server: HttpServer, caplog: pytest.LogCaptureFixture
) -> None:
    # F4-12, S4-081
    caplog.set_level(logging.INFO)
    before = ports.api_calls
    server.behave(Reply(503), Reply(302, b"", "", {"Location": "/moved?to=x"}), json_reply([1]))
    api = service(server.url, auth="query", auth_name="key", secret=seal("secret-012345"))
    operation = get("/things/{id}", in_path("id"), query("who"))
    await call(backend, api, operation, {"id": "private", "who": "somebody"})
    found = lines(caplog)
    shown = [(one["status"], one["bytes"], one["attempt"], one["redirects"]) for one in found]
    assert shown == [(503, 2, 1, 0), (302, 0, 2, 0), (200, 3, 2, 1)]
    for one in found:
        assert (one["service"], one["method"], one["path"]) == ("shop", "GET", "/things/{id}")
        assert one["ms"] >= 0
        assert not any(value in repr(one) for value in ("private", "somebody", "secret", "to=x"))
    assert ports.api_calls - before == len(found)


async def test_a_request_without_an_answer_is_a_line_too(
    backend: HttpApiBackend, server: HttpServer, caplog: pytest.LogCaptureFixture
) -> None:
    # F4-12, S4-081
    caplog.set_level(logging.INFO)
    server.always = Reply(hang=True)
    with pytest.raises(UpstreamFailed):
        await call(backend, service(server.url, timeout_seconds=0.2), get())
    [line] = lines(caplog)
    assert (line["status"], line["failure"]) == (None, "CancelledError")


async def test_a_long_call_tells_that_it_is_still_under_way(server: HttpServer) -> None:
    # F4-14, S4-082
    told: list[tuple[float, float | None, str]] = []
    enough = asyncio.Event()

    async def progress(done: float, total: float | None, message: str) -> None:
        told.append((done, total, message))
        if len(told) == 3:
            enough.set()

    backend = HttpApiBackend(patience=Patience(first=0.05, every=0.02))
    server.always = Reply(hang=True)
    spec = spec_of(service(server.url), get())
    calling = asyncio.create_task(backend.call(spec, {}, context(progress=progress)))
    await asyncio.wait_for(enough.wait(), 10)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    after = len(told)
    assert [one[0] for one in told] == sorted(one[0] for one in told)
    assert all(total is None and "Waiting for the API shop" in text for _, total, text in told)
    # Nothing is told of a call that is over.
    server.always = Reply()
    assert await call(backend, service(server.url), get()) == {}
    assert len(told) == after
    await backend.close()


def test_the_usual_patience_is_that_of_the_requirement() -> None:
    # F4-14, S4-082
    usual = Patience()
    assert usual.first <= 5
    assert usual.every <= 2


async def test_a_caller_that_cannot_be_told_does_not_fail_its_call(server: HttpServer) -> None:
    tried = asyncio.Event()

    async def progress(done: float, total: float | None, message: str) -> None:
        tried.set()
        raise ConnectionResetError

    async def resolve(host: str, port: int) -> list[str]:
        await tried.wait()
        return ["127.0.0.1"]

    backend = HttpApiBackend(resolve=resolve, patience=Patience(first=0.0, every=0.0))
    api = service(f"http://api.example.com:{server.port}")
    result = await backend.call(spec_of(api, get()), {}, context(progress=progress))
    assert result.data == {}
    await backend.close()
