"""The shared link to Redis: round trips, outages, recovery."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.exceptions import ResponseError

from tests.tools.guards.support import OwnValkey, counting_proxy, eventually, open_link
from tools.guards.redis import (
    COMMAND_TIMEOUT,
    RedisDown,
    RedisLink,
    connect,
    disconnect,
    load_script,
)


async def is_up(link: RedisLink) -> bool:
    try:
        await link.command("PING")
    except RedisDown:
        return False
    return True


async def test_concurrent_commands_make_one_round_trip(redis_url: str, socket_folder: Path) -> None:
    async with (
        counting_proxy(urlsplit(redis_url).path, socket_folder / "p.sock") as traffic,
        open_link(traffic.url) as link,
    ):
        await link.command("PING")
        before = traffic.bursts
        replies = await asyncio.gather(*(link.command("INCR", "cp:n") for _ in range(100)))
        assert sorted(replies) == list(range(1, 101))
        assert traffic.bursts - before == 1
        assert traffic.connections == 1


async def test_commands_do_not_wait_for_replies_to_earlier_ones(
    redis_url: str, socket_folder: Path
) -> None:
    async with (
        counting_proxy(urlsplit(redis_url).path, socket_folder / "p.sock") as traffic,
        open_link(traffic.url) as link,
    ):
        await link.command("PING")
        before = traffic.bursts
        first = link.submit("INCR", "cp:n")
        await asyncio.sleep(0)
        later = [link.submit("INCR", "cp:n") for _ in range(30)]
        assert await first == 1
        assert await asyncio.gather(*later) == list(range(2, 32))
        assert traffic.bursts - before <= 2


async def test_more_commands_than_a_batch_holds_are_all_answered_in_order(link: RedisLink) -> None:
    replies = await asyncio.gather(*(link.submit("INCR", "cp:n") for _ in range(1500)))
    assert replies == list(range(1, 1501))


async def test_refused_command_does_not_hurt_the_others_of_its_batch(link: RedisLink) -> None:
    await link.command("SET", "cp:text", "a")
    replies = await asyncio.gather(
        link.command("INCR", "cp:n"),
        link.command("LPUSH", "cp:text", "b"),
        link.script("return redis.call('NOSUCHCOMMAND')", []),
        link.command("INCR", "cp:n"),
        return_exceptions=True,
    )
    assert (replies[0], replies[3]) == (1, 2)
    assert isinstance(replies[1], ResponseError)
    assert isinstance(replies[2], ResponseError)
    assert link.available


@pytest.mark.parametrize("argument", ["\ud800", None, True, {"a": 1}])
async def test_argument_that_cannot_be_sent_fails_its_caller_alone(
    link: RedisLink, argument: object
) -> None:
    neighbour = link.submit("INCR", "cp:n")
    with pytest.raises((ValueError, TypeError)):
        link.submit("SET", "cp:x", argument)  # type: ignore[arg-type]
    assert await neighbour == 1


async def test_command_whose_caller_was_cancelled_is_still_carried_out(link: RedisLink) -> None:
    task = asyncio.create_task(link.command("SET", "cp:x", "done"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await link.command("GET", "cp:x") == "done"


async def test_scripts_share_a_preamble_and_run_in_one_round_trip(link: RedisLink) -> None:
    assert load_script("slots_usage").startswith(load_script("shared")[:40])
    assert await link.script("return {KEYS[1], ARGV[1]}", ["cp:k"], 7) == ["cp:k", "7"]


async def test_absent_server_raises_redis_down(dead_link: RedisLink) -> None:
    assert dead_link.available
    with pytest.raises(RedisDown):
        await dead_link.command("PING")
    assert not dead_link.available


async def test_nothing_is_tried_while_the_link_cools_down(
    own_valkey: OwnValkey, socket_folder: Path
) -> None:
    async with (
        counting_proxy(str(own_valkey.socket), socket_folder / "p.sock") as traffic,
        open_link(traffic.url) as link,
    ):
        await link.command("PING")
        own_valkey.pause()
        with pytest.raises(RedisDown):
            await link.command("PING")
        before = (traffic.connections, traffic.bursts)
        for _ in range(100):
            with pytest.raises(RedisDown):
                await link.command("PING")
        assert (traffic.connections, traffic.bursts) == before
        own_valkey.resume()


async def test_link_recovers_by_itself_after_the_server_was_killed(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    await own_link.command("SET", "cp:x", "kept")
    own_valkey.kill()
    with pytest.raises(RedisDown):
        await own_link.command("PING")
    own_valkey.start()

    async def available() -> bool:
        return own_link.available

    await eventually(available, what="recovery without a command")
    assert await own_link.command("GET", "cp:x") == "kept"


async def test_connection_closed_while_idle_is_replaced_unnoticed(
    link: RedisLink, other_link: RedisLink
) -> None:
    await link.command("PING")
    number = await link.command("CLIENT", "ID")
    await other_link.command("CLIENT", "KILL", "ID", number)

    async def gone() -> bool:
        return f"id={number} " not in str(await other_link.command("CLIENT", "LIST"))

    await eventually(gone)
    assert await link.command("INCR", "cp:n") == 1


async def test_hung_server_costs_a_call_no_more_than_the_command_timeout(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    await own_link.command("PING")
    own_valkey.pause()
    async with asyncio.timeout(COMMAND_TIMEOUT + 0.5):
        first = own_link.submit("PING")
        await asyncio.sleep(0.05)
        # These gather behind the batch that hangs and must not hang once more on their own.
        later = [own_link.submit("PING") for _ in range(50)]
        replies = await asyncio.gather(first, *later, return_exceptions=True)
    assert {type(reply) for reply in replies} == {RedisDown}
    async with asyncio.timeout(COMMAND_TIMEOUT / 2):
        for _ in range(1000):
            with pytest.raises(RedisDown):
                await own_link.command("PING")
    own_valkey.resume()
    await eventually(lambda: is_up(own_link))


async def test_server_hanging_from_the_start_costs_one_command_timeout(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    own_valkey.pause()
    async with asyncio.timeout(COMMAND_TIMEOUT + 0.5):
        with pytest.raises(RedisDown):
            await own_link.command("PING")


async def test_server_that_answers_everything_late_costs_one_command_timeout(
    redis_url: str, socket_folder: Path
) -> None:
    slow = counting_proxy(
        urlsplit(redis_url).path, socket_folder / "p.sock", delay=COMMAND_TIMEOUT * 0.7
    )
    async with slow as traffic, open_link(traffic.url) as link:
        # Greeting and command are each in time; together they are not.
        async with asyncio.timeout(COMMAND_TIMEOUT + 0.3):
            with pytest.raises(RedisDown):
                await link.command("PING")


async def test_server_that_cannot_write_counts_as_down(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    await own_link.command("CONFIG", "SET", "maxmemory", "1")
    replies = await asyncio.gather(
        own_link.command("SET", "cp:x", "a"), own_link.command("PING"), return_exceptions=True
    )
    assert isinstance(replies[0], RedisDown)
    assert isinstance(replies[1], bool | str)
    assert own_link.available


async def test_nobody_waits_for_ever_when_the_link_is_closed_on_a_hung_server(
    own_valkey: OwnValkey,
) -> None:
    link = RedisLink(own_valkey.url)
    await link.command("PING")
    own_valkey.pause()
    sent = link.submit("PING")
    async with asyncio.timeout(COMMAND_TIMEOUT * 2):
        await link.close()
        assert isinstance((await asyncio.gather(sent, return_exceptions=True))[0], RedisDown)
    own_valkey.resume()


async def test_whoever_comes_after_the_end_is_refused_and_opens_nothing(
    redis_url: str, socket_folder: Path
) -> None:
    async with counting_proxy(urlsplit(redis_url).path, socket_folder / "p.sock") as traffic:
        link = RedisLink(traffic.url)
        await link.command("PING")
        await link.close()
        with pytest.raises(RedisDown):
            await link.command("PING")
        assert traffic.connections == 1


async def test_connections_are_closed_though_whoever_waits_for_that_is_cancelled(
    redis_url: str,
) -> None:
    client = connect(redis_url)
    await client.ping()
    closing = asyncio.create_task(disconnect(client))
    # It has begun, and what redis-py starts for it has not.
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)
    assert closing.cancelled()
    assert not any(one.is_connected for one in client.connection_pool._available_connections)


async def test_password_and_database_of_the_address_are_used(own_valkey: OwnValkey) -> None:
    async with open_link(own_valkey.url) as link:
        await link.command("CONFIG", "SET", "requirepass", "hunter2")
    async with open_link(own_valkey.url.replace("unix://", "unix://:hunter2@") + "?db=3") as link:
        await link.command("SET", "cp:x", "there")
        assert f"db={3} " in str(await link.command("CLIENT", "LIST"))
    async with open_link(own_valkey.url) as stranger:
        with pytest.raises(RedisDown):
            await stranger.command("PING")
        assert not stranger.available


async def test_an_answer_that_is_not_redis_counts_as_down(socket_folder: Path) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    path = socket_folder / "http.sock"
    server = await asyncio.start_unix_server(babble, path)
    async with open_link(f"unix://{path}") as link:
        with pytest.raises(RedisDown):
            await link.command("PING")
    server.close()
    await server.wait_closed()
