"""The rate limit towards an API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http_server import HttpServer, Reply
from tests.tools.backends.http_api.calls import call, context, get, post, service, spec_of
from tools.backends.http_api import HttpApiBackend
from tools.backends.ports import ports
from tools.errors import RateLimited, UpstreamFailed
from tools.guards.redis import RedisLink


@pytest.fixture
def counted(link: RedisLink) -> Iterator[None]:
    """Requests to APIs are counted in an empty Redis."""
    kept, ports.link = ports.link, link
    yield
    ports.link = kept


async def test_requests_above_the_limit_are_refused_before_they_are_sent(
    backend: HttpApiBackend, server: HttpServer, counted: None
) -> None:
    # F4-13
    api = service(server.url, rate_per_minute=2)
    first = await backend.call(spec_of(api, get()), {}, context())
    assert first.meta == {"api_rate_remaining": 1}
    await call(backend, api, get())
    with pytest.raises(RateLimited) as told:
        await call(backend, api, get())
    assert told.value.message == "0 of the 2 requests per minute to the API shop are left"
    assert told.value.details.retry_after in range(1, 32)
    assert (told.value.details.max, told.value.details.current) == (2, 2)
    assert len(server.asked) == 2


async def test_every_process_counts_the_same_requests(
    backend: HttpApiBackend, server: HttpServer, counted: None
) -> None:
    api = service(server.url, rate_per_minute=1)
    await call(backend, api, get())
    another = HttpApiBackend()
    with pytest.raises(RateLimited):
        await call(another, api, get())
    assert await call(another, service(server.url, slug="other", rate_per_minute=1), get()) == {}
    await another.close()


async def test_attempts_count_and_the_failure_is_told_when_none_is_left(
    backend: HttpApiBackend, server: HttpServer, counted: None
) -> None:
    server.always = Reply(503)
    with pytest.raises(UpstreamFailed):
        await call(backend, service(server.url, rate_per_minute=2, retries=5), get())
    assert len(server.asked) == 2


async def test_without_a_limit_nothing_is_counted(
    backend: HttpApiBackend, server: HttpServer, counted: None
) -> None:
    for _ in range(3):
        result = await backend.call(spec_of(service(server.url), post()), {}, context())
        assert result.meta == {}
