"""Trials in Redis: what each step says, to whom, and what happens without Redis."""

from __future__ import annotations

import uuid

import pytest

from tools.guards.redis import RedisDown, RedisLink
from tools.guards.trials import Trials, TrialState

TRIAL = str(uuid.uuid4())


async def test_a_trial_runs_until_its_process_says_how_it_ended(link: RedisLink) -> None:
    trials = Trials(link)
    await trials.open(TRIAL, "ada", "about")
    assert await trials.beat(TRIAL, "half way") is False
    running = await trials.read(TRIAL, "ada")
    assert running is not None
    assert (running.state, running.about, running.note) == (
        TrialState.RUNNING,
        "about",
        "half way",
    )
    assert await trials.end(TRIAL, TrialState.ENDED)
    # Told again by a slower step of the same process, it stays ended.
    await trials.open(TRIAL, "ada", "about")
    ended = await trials.read(TRIAL, "ada")
    assert ended is not None
    assert ended.state is TrialState.ENDED
    assert not await trials.cancel(TRIAL, "ada")


async def test_its_owner_alone_sees_and_cancels_it(link: RedisLink) -> None:
    trials = Trials(link)
    await trials.open(TRIAL, "ada", "about")
    assert await trials.read(TRIAL, "eve") is None
    assert not await trials.cancel(TRIAL, "eve")
    assert await trials.beat(TRIAL, "") is False
    assert await trials.cancel(TRIAL, "ada")
    assert await trials.beat(TRIAL, "") is True
    seen = await trials.read(TRIAL, "ada")
    assert seen is not None
    assert seen.cancelling


async def test_what_redis_has_forgotten_is_told_as_forgotten(link: RedisLink) -> None:
    trials = Trials(link)
    assert await trials.beat(TRIAL, "") is None
    assert not await trials.end(TRIAL, TrialState.ENDED)
    assert await trials.read(TRIAL, "ada") is None
    assert await trials.read("cp:trial:*", "ada") is None


async def test_a_trial_is_kept_for_a_while_only(link: RedisLink) -> None:
    await Trials(link, keep_seconds=60).open(TRIAL, "ada", "about")
    left = await link.command("TTL", f"cp:trial:{TRIAL}")
    assert 0 < left <= 60


async def test_without_redis_every_step_says_so(dead_link: RedisLink) -> None:
    trials = Trials(dead_link)
    with pytest.raises(RedisDown):
        await trials.open(TRIAL, "ada", "about")
    with pytest.raises(RedisDown):
        await trials.read(TRIAL, "ada")
    with pytest.raises(RedisDown):
        await trials.cancel(TRIAL, "ada")
