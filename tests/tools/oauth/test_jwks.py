"""Keys at hand: refreshed, kept through outages, and asked for no more often than the cool-down."""

from __future__ import annotations

import asyncio

import pytest

from tests.processes import wait_until
from tests.tools.oauth.conftest import Clock
from tests.tools.oauth.issuer import JWKS, StandInIssuer
from tools.oauth.jwks import COOL_DOWN, OLDEST, KeyCache, KeysUnavailable
from tools.oauth.keys import KeySet


async def test_a_rotated_key_is_found_as_soon_as_a_token_names_it(
    issuer: StandInIssuer, keys: KeyCache
) -> None:
    await keys.refresh()
    assert keys.find("rsa-1", "RS256")
    issuer.rotate("rsa-2")
    assert keys.worth_asking("rsa-2", "RS256")
    await keys.ask()
    assert keys.find("rsa-2", "RS256")
    assert keys.find("rsa-1", "RS256") == ()


async def test_unknown_keys_make_us_ask_once_per_cool_down(
    issuer: StandInIssuer, keys: KeyCache, clock: Clock
) -> None:
    await keys.refresh()
    for number in range(100):
        if keys.worth_asking(f"made-up-{number}", "RS256"):
            await keys.ask()
    assert issuer.requests[JWKS] == 2
    clock.now += COOL_DOWN - 1
    assert not keys.worth_asking("made-up", "RS256")
    clock.now += 1
    assert keys.worth_asking("made-up", "RS256")


async def test_callers_that_ask_together_share_one_answer(
    issuer: StandInIssuer, keys: KeyCache
) -> None:
    await asyncio.gather(*(keys.ask() for _ in range(50)))
    assert issuer.requests[JWKS] == 1
    assert keys.find("rsa-1", "RS256")


async def test_one_who_stops_waiting_does_not_stop_the_others() -> None:
    may_answer = asyncio.Event()

    async def fetch() -> KeySet:
        await may_answer.wait()
        return KeySet((), "some")

    cache = KeyCache(fetch, "https://id.example.com")
    first, second = asyncio.create_task(cache.ask()), asyncio.create_task(cache.ask())
    await asyncio.sleep(0)
    first.cancel()
    may_answer.set()
    await second
    assert cache.version == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_keys_outlive_an_outage_of_the_issuer_by_a_day(
    issuer: StandInIssuer, keys: KeyCache, clock: Clock
) -> None:
    await keys.refresh()
    issuer.stop()
    clock.now += OLDEST
    await keys.refresh()
    assert keys.find("rsa-1", "RS256")
    clock.now += 1
    with pytest.raises(KeysUnavailable):
        keys.find("rsa-1", "RS256")
    issuer.start()
    await keys.refresh()
    assert keys.find("rsa-1", "RS256")


@pytest.mark.parametrize("body", [b"garbage", b"{}", b'{"keys": 5}'])
async def test_keys_outlive_garbage_from_the_issuer(
    issuer: StandInIssuer, keys: KeyCache, body: bytes
) -> None:
    await keys.refresh()
    issuer.answer(JWKS, body)
    await keys.refresh()
    assert keys.find("rsa-1", "RS256")


async def test_an_unknown_key_is_not_judged_while_the_issuer_is_away(
    issuer: StandInIssuer, keys: KeyCache
) -> None:
    await keys.refresh()
    assert keys.find("rsa-2", "RS256") == ()
    issuer.stop()
    await keys.ask()
    with pytest.raises(KeysUnavailable):
        keys.find("rsa-2", "RS256")


async def test_the_background_keeps_keys_fresh_and_comes_back_after_an_outage(
    issuer: StandInIssuer, keys: KeyCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REFRESH_EVERY", "FIRST_RETRY", "LAST_RETRY"):
        monkeypatch.setattr(f"tools.oauth.jwks.{name}", 0.02)
    issuer.stop()
    running = asyncio.create_task(keys.run())
    with pytest.raises(KeysUnavailable):
        keys.find("rsa-1", "RS256")
    issuer.start()
    await asyncio.to_thread(wait_until, lambda: known(keys, "rsa-1"))
    issuer.rotate("rsa-2")
    await asyncio.to_thread(wait_until, lambda: known(keys, "rsa-2"))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def known(keys: KeyCache, kid: str) -> bool:
    try:
        return bool(keys.find(kid, "RS256"))
    except KeysUnavailable:
        return False


async def test_a_bug_while_asking_does_not_end_the_refresher(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fetch() -> KeySet:
        raise ZeroDivisionError

    cache = KeyCache(fetch, "https://id.example.com")
    await cache.refresh()
    assert "failed on a bug" in caplog.text
    with pytest.raises(KeysUnavailable):
        cache.find("rsa-1", "RS256")
