"""Connections to servers for as long as a process serves, and what is fetched from them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.mcp_upstream import HttpUpstream, http_upstream
from tests.tools.backends.upstream.trial import LOOPBACK, eventually
from tests.upstream_rows import make_upstream
from tools.backends.late import upstreams
from tools.backends.ports import ports
from tools.errors import BreakerOpen, ExecutionFailed, TransportFault
from tools.execution.federation import fetch, keeping_upstreams
from tools.execution.runtime import Runtime, open_runtime
from tools.guards.breaker import BreakerState
from tools.models import UpstreamServer
from tools.upstreams import ConnectionState, Discovered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

GREETING = ("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}})


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[HttpUpstream]:
    with http_upstream(tmp_path / "upstream") as made:
        yield made


async def row(hand: HttpUpstream, **columns: Any) -> UpstreamServer:
    values = {"slug": "trial", "url": hand.url, "allowed_networks": list(LOOPBACK), **columns}
    return await sync_to_async(make_upstream)(**values)


def bound(server: UpstreamServer) -> dict[str, Any]:
    return {"server": server.to_value(), "remote_name": "greet", "fingerprint": ""}


@pytest.fixture
async def runtime(transactional_db: None) -> AsyncIterator[Runtime]:
    async with open_runtime() as opened:
        yield opened


async def state(runtime: Runtime) -> BreakerState:
    return (await runtime.breakers.snapshot("mcp:trial")).state


async def test_a_prompt_is_fetched_from_its_server(hand: HttpUpstream, runtime: Runtime) -> None:
    found = await fetch(runtime, bound(await row(hand)), *GREETING)
    assert found["messages"][0]["content"]["text"] == "Hello Ada."


async def test_what_the_server_declines_does_not_count_against_it(
    hand: HttpUpstream, runtime: Runtime
) -> None:
    server = await row(hand)
    for _ in range(6):
        with pytest.raises(ExecutionFailed, match="refused the call"):
            await fetch(runtime, bound(server), "prompts/unheard-of", {})
    assert await state(runtime) is BreakerState.CLOSED


async def test_a_server_that_is_away_is_left_alone_after_a_while(
    hand: HttpUpstream, runtime: Runtime
) -> None:
    # S2-051, S2-052
    words = "Unable to access todo database. Please try again later."
    server = await row(hand, unavailable_message=words, retries=0)
    hand.kill()
    for _ in range(5):
        with pytest.raises(TransportFault, match="Unable to access todo database"):
            await fetch(runtime, bound(server), *GREETING)
    assert await state(runtime) is BreakerState.OPEN
    hand.start()
    with pytest.raises(BreakerOpen, match="Unable to access todo database") as refused:
        await fetch(runtime, bound(server), *GREETING)
    assert refused.value.details.retry_after in range(1, 31)


async def test_servers_are_met_at_the_start_and_what_they_offer_is_recorded(
    hand: HttpUpstream,
) -> None:
    # S2-001, S2-017
    await row(hand, connect_at_start=True)
    await row(hand, slug="later")
    recorded: list[tuple[str, Discovered]] = []

    async def record(slug: str, found: Discovered) -> None:
        recorded.append((slug, found))

    async with open_runtime() as runtime, keeping_upstreams(runtime, record):
        await eventually(lambda: recorded)
        (connection,) = upstreams().manager().connections()
        assert connection.report().connection_state is ConnectionState.CONNECTED
        slug, found = recorded[0]
        assert (slug, found.tools_only) == ("trial", False)
        assert {tool["name"] for tool in found.tools} >= {"echo", "sleep"}
        assert [prompt["name"] for prompt in found.prompts] == ["greet"]
    assert ports.discovered is None
    assert connection.state is ConnectionState.DISCONNECTED


async def test_a_server_that_is_switched_off_is_hung_up_on(hand: HttpUpstream) -> None:
    # S2-012
    server = await row(hand, connect_at_start=True)

    async def record(slug: str, found: Discovered) -> None:
        """Nothing is written."""

    async with open_runtime() as runtime, keeping_upstreams(runtime, record):
        (connection,) = upstreams().manager().connections()
        await eventually(lambda: connection.state is ConnectionState.CONNECTED)
        server.enabled = False
        await sync_to_async(server.save)()
        await eventually(lambda: connection.state is ConnectionState.DISCONNECTED)
        assert upstreams().manager().connections() == ()


async def test_a_process_without_servers_opens_nothing(runtime: Runtime) -> None:
    async def record(slug: str, found: Discovered) -> None:
        raise AssertionError

    async with keeping_upstreams(runtime, record):
        assert ports.discovered is record
        assert ports.endings == []
    assert ports.discovered is None


async def test_a_process_whose_client_waits_meets_servers_by_their_first_call(
    hand: HttpUpstream,
) -> None:
    server = await row(hand, connect_at_start=True)

    async def record(slug: str, found: Discovered) -> None:
        """Nothing is written."""

    async with open_runtime() as runtime, keeping_upstreams(runtime, record, meet=False):
        assert not upstreams().managing
        assert hand.events("call") == []
        await fetch(runtime, bound(server), *GREETING)
        (connection,) = upstreams().manager().connections()
        assert connection.live is not None
        # From then on it follows the catalogue like any other process.
        server.enabled = False
        await sync_to_async(server.save)()
        await eventually(lambda: connection.state is ConnectionState.DISCONNECTED)
