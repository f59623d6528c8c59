"""Whole results are kept for their caller, for a while, within limits."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from typing_extensions import override

from tests.tools.guards.support import OwnValkey
from tools.guards.kept_results import KeptResults
from tools.guards.parts import PART_BYTES, UPLOAD_SECONDS
from tools.guards.redis import Argument, RedisDown, RedisLink

OWNER = "key:alpha"
BODY = json.dumps({"records": [{"name": "Jürgen", "n": n} for n in range(100)]})


def new_id() -> str:
    return str(uuid.uuid4())


def incompressible(size: int) -> str:
    return random.Random(7).randbytes(size // 2).hex()  # noqa: S311 - filler, not a secret


async def keys(link: RedisLink, pattern: str) -> list[str]:
    return sorted(await link.command("KEYS", pattern))


async def total(link: RedisLink) -> int:
    return int(await link.command("HGET", "cp:result:sizes", "total"))


async def test_what_was_kept_is_read_back_by_its_owner(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()

    assert await kept.keep(request_id, OWNER, BODY) is True
    assert await kept.read(request_id, OWNER) == BODY
    assert await kept.read(request_id.upper(), OWNER) == BODY


async def test_another_caller_finds_nothing(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()
    await kept.keep(request_id, OWNER, BODY)

    assert await kept.read(request_id, "key:beta") is None
    assert await kept.read(new_id(), OWNER) is None


async def test_one_caller_cannot_replace_the_result_of_another(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()
    await kept.keep(request_id, OWNER, BODY)
    await kept.keep(request_id, "key:beta", '"theirs"')

    assert await kept.read(request_id, OWNER) == BODY
    assert await kept.read(request_id, "key:beta") == '"theirs"'


async def test_results_expire_and_so_does_what_is_known_about_them(link: RedisLink) -> None:
    await KeptResults(link, ttl_seconds=120).keep(new_id(), OWNER, BODY)

    stored = await keys(link, "cp:result:*")
    assert len(stored) == 3
    for key in stored:
        assert 100 < await link.command("TTL", key) <= 120


async def test_an_expired_result_is_gone(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()
    await kept.keep(request_id, OWNER, BODY)
    for key in await keys(link, f"cp:result:{request_id}:*"):
        await link.command("PEXPIRE", key, 0)

    assert await kept.read(request_id, OWNER) is None


@pytest.mark.parametrize("body", ['""', json.dumps("日本 \ud800 😀"), '"raw \ud800 half"', "null"])
async def test_texts_of_any_kind_come_back_as_they_were(link: RedisLink, body: str) -> None:
    kept = KeptResults(link)
    request_id = new_id()

    assert await kept.keep(request_id, OWNER, body)
    assert await kept.read(request_id, OWNER) == body


async def test_a_large_body_travels_in_parts(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id, body = new_id(), incompressible(2_000_000)

    assert await kept.keep(request_id, OWNER, body)
    assert await kept.read(request_id, OWNER) == body
    [stored] = await keys(link, f"cp:result:{request_id}:*")
    parts = await link.command("LLEN", stored)
    assert parts > 1
    for part in range(parts):
        [content] = await link.command("LRANGE", stored, part, part)
        assert len(content) <= PART_BYTES


async def test_a_body_above_the_limit_is_not_kept(link: RedisLink) -> None:
    kept = KeptResults(link, max_bytes=1000)

    assert await kept.keep(new_id(), OWNER, "x" * 1000) is True
    assert await kept.keep(new_id(), OWNER, "x" * 1001) is False
    assert await kept.keep(new_id(), OWNER, "é" * 501) is False
    assert len(await keys(link, "cp:result:*-*")) == 1


async def test_an_id_that_is_no_uuid_is_neither_kept_nor_found(link: RedisLink) -> None:
    kept = KeptResults(link)

    assert await kept.keep("index", OWNER, BODY) is False
    assert await kept.read("../*", OWNER) is None
    assert await keys(link, "*") == []


async def test_with_redis_down_nothing_is_kept_and_nothing_raises(dead_link: RedisLink) -> None:
    kept = KeptResults(dead_link)
    request_id = new_id()

    assert await kept.keep(request_id, OWNER, BODY) is False
    assert await kept.read(request_id, OWNER) is None


async def test_a_refusal_by_redis_is_not_raised_either(link: RedisLink) -> None:
    kept = KeptResults(link)
    await link.command("SET", "cp:result:index", "of the wrong type")

    assert await kept.keep(new_id(), OWNER, BODY) is False


async def test_beyond_the_total_the_oldest_go_first(link: RedisLink) -> None:
    kept = KeptResults(link, max_total_bytes=40_000)
    ids = [new_id() for _ in range(4)]
    for request_id in ids:
        assert await kept.keep(request_id, OWNER, incompressible(20_000))

    found = [await kept.read(request_id, OWNER) is not None for request_id in ids]
    assert found == [False, False, True, True]
    assert await total(link) <= 40_000


async def test_keeping_again_under_the_same_id_replaces_and_counts_once(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()
    await kept.keep(request_id, OWNER, incompressible(50_000))
    await kept.keep(request_id, OWNER, BODY)

    assert await kept.read(request_id, OWNER) == BODY
    [stored] = await keys(link, f"cp:result:{request_id}:*")
    assert await total(link) == len(await link.command("LINDEX", stored, 0))


async def test_expired_results_no_longer_count(link: RedisLink) -> None:
    kept = KeptResults(link, ttl_seconds=100)
    await kept.keep(new_id(), OWNER, incompressible(50_000))
    [member] = await link.command("ZRANGE", "cp:result:index", 0, -1)
    await link.command("ZADD", "cp:result:index", 1, member)

    await kept.keep(new_id(), OWNER, BODY)

    assert await link.command("ZCARD", "cp:result:index") == 1
    assert await total(link) < 50_000


class LostBeforePublishing(RedisLink):
    """A link whose server goes away after the last part of an upload."""

    @override
    async def script(self, body: str, keys: Sequence[str], *arguments: Argument) -> Any:
        raise RedisDown("gone")


async def test_an_upload_that_was_not_finished_cannot_be_read_and_expires(redis_url: str) -> None:
    broken = LostBeforePublishing(redis_url)
    kept = KeptResults(broken)
    request_id = new_id()

    assert await kept.keep(request_id, OWNER, BODY) is False
    assert await kept.read(request_id, OWNER) is None
    [upload] = await keys(broken, "cp:result:*")
    assert 0 < await broken.command("TTL", upload) <= UPLOAD_SECONDS
    await broken.close()


async def test_a_result_survives_a_killed_and_restarted_server(own_valkey: OwnValkey) -> None:
    before = RedisLink(own_valkey.url)
    request_id = new_id()
    assert await KeptResults(before).keep(request_id, OWNER, BODY)
    own_valkey.kill()
    own_valkey.start()
    after = RedisLink(own_valkey.url)

    assert await KeptResults(after).read(request_id, OWNER) == BODY
    await before.close()
    await after.close()


async def test_a_result_that_changed_while_it_was_read_is_not_given_out(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = new_id()
    await kept.keep(request_id, OWNER, incompressible(1_000_000))
    [stored] = await keys(link, f"cp:result:{request_id}:*")
    await link.command("LSET", stored, 1, "AAAA" * 100)

    assert await kept.read(request_id, OWNER) is None
