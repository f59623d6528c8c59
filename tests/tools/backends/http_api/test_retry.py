"""Attempts: which requests are sent again, when, and when not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.http_server import HttpServer, Reply, json_reply
from tests.tools.backends.http_api.calls import call, get, post, service
from tools.backends.http_api import HttpApiBackend
from tools.backends.http_api.waits import LONGEST_WAIT, pause, retry_after
from tools.errors import ControlPlaneError, RateLimited, UpstreamFailed
from tools.operations import Operation

GOOD = json_reply({"ok": True})


@pytest.mark.parametrize(
    "bad",
    [
        Reply(500), Reply(502), Reply(503), Reply(504), Reply(429, headers={"Retry-After": "0"}),
        Reply(drop=True), Reply(short=True), Reply(raw=b"no HTTP"),
    ],
)  # fmt: skip
async def test_a_read_that_fails_in_passing_is_sent_again(
    backend: HttpApiBackend, server: HttpServer, bad: Reply
) -> None:
    # F4-22, T16
    server.behave(bad, bad, GOOD)
    assert await call(backend, service(server.url), get()) == {"ok": True}
    assert len(server.asked) == 3


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD"])
async def test_what_may_be_sent_twice_is(
    backend: HttpApiBackend, server: HttpServer, method: str
) -> None:
    server.behave(Reply(503))
    await call(backend, service(server.url), Operation(method, "/things"))
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "bad", [Reply(503), Reply(429, headers={"Retry-After": "0"}), Reply(drop=True)]
)
async def test_what_may_not_be_sent_twice_is_not(
    backend: HttpApiBackend, server: HttpServer, bad: Reply
) -> None:
    server.always = bad
    for operation in (post(), Operation("PATCH", "/things")):
        with pytest.raises(ControlPlaneError):
            await call(backend, service(server.url), operation)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("operation", "status"),
    [(get(), 400), (get(), 404), (get(), 501), (Operation("DELETE", "/things"), 500)],
)
async def test_what_would_fail_again_is_not_tried_again(
    backend: HttpApiBackend, server: HttpServer, operation: Operation, status: int
) -> None:
    server.always = Reply(status)
    with pytest.raises(ControlPlaneError):
        await call(backend, service(server.url), operation)
    assert len(server.asked) == 1


async def test_attempts_end_with_the_number_the_service_allows(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(503)
    with pytest.raises(UpstreamFailed):
        await call(backend, service(server.url, retries=1), get())
    assert len(server.asked) == 2


async def test_no_attempt_waits_beyond_the_deadline(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    # F4-13
    server.always = Reply(429, headers={"Retry-After": "60"})
    with pytest.raises(RateLimited) as told:
        await call(backend, service(server.url), get(), seconds=5)
    assert told.value.details.retry_after == 60
    assert len(server.asked) == 1


NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None), ("7", 7), (" 2.5 ", 2.5), ("-3", 0), ("soon", None), ("nan", None),
        ("inf", 86_400), ("999999999", 86_400), ("Thu, 01 Jan 2026 12:00:30 GMT", 30),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0), ("Thu, 01 Jan 2026 13:00:30 +0100", 30),
        ("Thu, 99 Jan 2026 99:00:00 GMT", None),
    ],
)  # fmt: skip
def test_an_api_may_ask_in_seconds_or_with_a_date(header: str, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


def test_waits_grow_are_never_twice_the_same_and_end() -> None:
    early = {pause(0, None, 100) for _ in range(20)}
    late = {pause(9, None, 100) for _ in range(20)}
    assert len(early) > 1
    assert max(one for one in early if one is not None) < min(
        one for one in late if one is not None
    )
    assert all(one is not None and one <= LONGEST_WAIT for one in late)
    assert pause(0, 3.0, 2.0) is None
    asked = pause(0, 3.0, 10.0)
    assert asked is not None
    assert asked >= 3.0
