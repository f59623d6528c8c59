"""Calls that pages start: they run beside the threads of pages, and any process can look and end them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of
from tests.processes import wait_until
from tools.conf import deployment
from tools.execution import identity
from tools.execution.background import background
from tools.execution.runtime import current
from tools.execution.trial import read_about, write_about
from tools.execution.trials import (
    Trial,
    TrialState,
    cancel_trial,
    find_trial,
    others_reachable,
    start_trial,
)
from tools.guards.redis import RedisLink
from tools.guards.trials import Trials
from tools.vault import seal, unseal

UNKNOWN = "0d1f6a52-6c5f-4b0e-9d92-3b1f0a6a7c11"
pytestmark = pytest.mark.usefixtures("calls_from_pages")


def ended(trial_id: str, username: str = "ada") -> Trial:
    """The trial, once it is over."""
    found = find_trial(trial_id, username)

    def over() -> bool:
        nonlocal found
        found = find_trial(trial_id, username)
        return found is not None and not found.running

    wait_until(over, what="the end of the trial")
    assert found is not None
    return found


def begun(backend: FakeBackend, tool: str) -> None:
    wait_until(lambda: bool(backend.calls.get(tool)), what="a call that reached its backend")


def elsewhere(redis_url: str, ask: Callable[[Trials], Any], **options: Any) -> Any:
    """What another process finds or does, which shares nothing but Redis."""

    async def work() -> Any:
        link = RedisLink(redis_url)
        try:
            return await ask(Trials(link, **options))
        finally:
            await link.close()

    return asyncio.run(work())


def test_a_trial_ends_with_the_answer_and_what_each_stage_decided(backend: FakeBackend) -> None:
    make_tool(name="echo", cache_ttl_seconds=60, dependency="weather")
    first = ended(start_trial("echo", {"n": 1}, username="ada"))
    assert first.state is TrialState.ENDED
    assert first.outcome is not None
    assert first.outcome.envelope is not None
    assert first.outcome.envelope["data"] == {"echo": {"n": 1}}
    assert first.outcome.envelope["request_id"] == first.request_id
    assert (first.outcome.cache, first.outcome.breaker) == ("miss", "closed")
    assert list(first.outcome.stages) == [
        *("lookup", "validation", "rate", "cache", "slot"),
        *("breaker", "backend", "budget", "journal"),
    ]
    again = ended(start_trial("echo", {"n": 1}, username="ada")).outcome
    assert again is not None
    assert (again.success, again.cache, again.breaker) == (True, "hit", "not asked")
    assert "backend" not in again.stages


def test_a_trial_is_journalled_as_a_call_of_the_person(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    door.start()
    trial = ended(start_trial("echo", {"n": 1}, username="ada"))
    row = row_of(trial.request_id)
    assert (row.caller, row.transport, str(row.pk)) == ("admin:ada", "admin", trial.call_id)
    assert current().loop is door.loop


def test_refused_arguments_are_told_with_the_parameter(backend: FakeBackend) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    make_tool(name="echo", input_schema=schema)
    outcome = ended(start_trial("echo", {"n": "one"}, username="ada")).outcome
    assert outcome is not None
    assert outcome.envelope is not None
    assert (outcome.success, outcome.code) == (False, "INVALID_ARGUMENTS")
    assert outcome.envelope["meta"]["details"]["parameter"] == "n"
    assert (outcome.cache, outcome.breaker, outcome.journalled) == ("not asked", "not asked", True)


def test_an_open_breaker_is_told_as_the_one_that_refused(backend: FakeBackend) -> None:
    make_tool(name="echo", dependency="weather")
    for _ in range(5):
        ended(start_trial("echo", {"fail": "upstream"}, username="ada"))
    outcome = ended(start_trial("echo", {}, username="ada")).outcome
    assert outcome is not None
    assert (outcome.breaker, outcome.dependency) == ("refused", "weather")


def test_callers_that_ask_together_are_told_to_have_joined(backend: FakeBackend) -> None:
    make_tool(name="echo", cache_ttl_seconds=60)
    leader = start_trial("echo", {"delay": 0.3}, username="ada")
    begun(backend, "echo")
    follower = start_trial("echo", {"delay": 0.3}, username="ada")
    told = [ended(one).outcome for one in (leader, follower)]
    assert [one.cache for one in told if one is not None] == ["miss", "joined"]


def test_progress_is_seen_while_a_trial_runs_and_from_other_processes(
    backend: FakeBackend, redis_url: str
) -> None:
    make_tool(name="slow", timeout_seconds=60)
    trial_id = start_trial("slow", {"delay": 30, "reports": "half way"}, username="ada")
    begun(backend, "slow")
    found = find_trial(trial_id, "ada")
    assert found is not None
    assert found.running
    assert found.shared
    assert found.progress is not None
    assert (found.progress.done, found.progress.total) == (1, 2)

    def heard() -> bool:
        record = elsewhere(redis_url, lambda trials: trials.read(trial_id, "ada"))
        return record is not None and "half way" in record.note

    wait_until(heard, what="progress in Redis")
    assert cancel_trial(trial_id, "ada")
    assert ended(trial_id).state is TrialState.CANCELLED


def test_another_process_can_end_a_trial_within_a_moment(
    backend: FakeBackend, redis_url: str
) -> None:
    make_tool(name="slow", timeout_seconds=60)
    trial_id = start_trial("slow", {"delay": 30}, username="ada")
    begun(backend, "slow")
    assert not elsewhere(redis_url, lambda trials: trials.cancel(trial_id, "eve"))
    assert elsewhere(redis_url, lambda trials: trials.cancel(trial_id, "ada"))
    trial = ended(trial_id)
    assert (trial.state, backend.cancelled) == (TrialState.CANCELLED, 1)
    assert trial.outcome is not None
    assert trial.outcome.journalled
    assert not cancel_trial(trial_id, "ada")


def test_a_trial_belongs_to_who_started_it(backend: FakeBackend) -> None:
    make_tool(name="slow", timeout_seconds=60)
    trial_id = start_trial("slow", {"delay": 30}, username="ada")
    begun(backend, "slow")
    assert find_trial(trial_id, "eve") is None
    assert not cancel_trial(trial_id, "eve")
    assert cancel_trial(trial_id, "ada")
    assert ended(trial_id).username == "ada"
    assert find_trial(trial_id, "eve") is None
    assert find_trial("not an id", "ada") is None


def test_a_trial_whose_process_is_gone_is_lost(redis_url: str) -> None:
    async def unheard_of(trials: Trials) -> Any:
        await trials.open(UNKNOWN, "ada", "{}")
        return await trials.read(UNKNOWN, "ada")

    assert elsewhere(redis_url, unheard_of).state is TrialState.RUNNING
    assert elsewhere(redis_url, unheard_of, lease_seconds=0).state is TrialState.LOST


def test_a_process_that_stops_leaves_word_of_its_trials(
    backend: FakeBackend, redis_url: str
) -> None:
    make_tool(name="slow", timeout_seconds=60)
    trial_id = start_trial("slow", {"delay": 30}, username="ada")
    begun(backend, "slow")
    background.close()
    assert backend.cancelled == 1
    found = find_trial(trial_id, "ada")
    assert found is not None
    assert (found.state, found.tool) == (TrialState.LOST, "slow")


def test_what_was_typed_lies_sealed_in_redis(
    backend: FakeBackend, redis_url: str, settings: Any
) -> None:
    make_tool(name="slow", timeout_seconds=60)
    arguments = {"delay": 30, "password": "hunter2"}
    trial_id = start_trial("slow", arguments, username="ada")
    begun(backend, "slow")
    record = elsewhere(redis_url, lambda trials: trials.read(trial_id, "ada"))
    assert record.about
    assert "hunter2" not in record.about
    # What is asked from now on knows no more than Redis does.
    background.close()
    found = find_trial(trial_id, "ada")
    assert found is not None
    assert found.arguments == arguments
    settings.SECRET_KEY = "another-key-than-the-one-that-sealed-it"
    assert find_trial(trial_id, "ada") is None


def test_a_bug_on_the_way_ends_a_trial_without_its_cause(
    backend: FakeBackend, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a secret cause: password=hunter2")

    make_tool(name="echo")
    monkeypatch.setattr(identity, "identify", broken)
    trial = ended(start_trial("echo", {}, username="ada"))
    assert trial.state is TrialState.ENDED
    assert trial.outcome is not None
    assert (trial.outcome.success, trial.outcome.code) == (False, "INTERNAL_ERROR")
    assert "hunter2" not in str(trial.outcome)
    # Other processes hear of it as well.
    wait_until(
        lambda: (
            elsewhere(redis_url, lambda trials: trials.read(trial.trial_id, "ada")).state
            is TrialState.ENDED
        ),
        what="its end in Redis",
    )


def test_long_running_tools_get_their_own_time(backend: FakeBackend) -> None:
    make_tool(name="slow", timeout_seconds=60, long_running=True)
    outcome = ended(start_trial("slow", {"delay": 0.1}, username="ada")).outcome
    assert outcome is not None
    assert outcome.success


def test_an_answer_too_long_for_a_page_is_shown_by_its_beginning(backend: FakeBackend) -> None:
    make_tool(name="echo")
    outcome = ended(start_trial("echo", {"result": ["x" * 1000] * 1100}, username="ada")).outcome
    assert outcome is not None
    assert (outcome.success, outcome.envelope) == (True, None)
    assert len(outcome.excerpt) == 100_000


def test_with_redis_away_the_process_that_runs_a_trial_still_shows_it(
    backend: FakeBackend, settings: Any, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    make_tool(name="echo")
    try:
        trial_id = start_trial("echo", {"n": 1}, username="ada")
        alone = ended(trial_id)
        assert alone.outcome is not None
        assert (alone.outcome.success, alone.shared) == (True, False)
        assert not others_reachable()
        assert not cancel_trial(UNKNOWN, "ada")
        assert find_trial(UNKNOWN, "ada") is None
    finally:
        background.close()
        deployment.cache_clear()


def test_what_processes_of_another_release_wrote_of_a_trial_can_be_read() -> None:
    replayed = Trial(
        trial_id=UNKNOWN,
        tool="t",
        arguments={},
        username="ada",
        started_at=datetime.now(UTC),
        replay_of=UNKNOWN,
        fresh=True,
    )
    sealed = write_about(replayed)
    # What the release before this one reads: it takes no word that it does not know.
    assert "fresh" not in json.loads(unseal(sealed))
    assert read_about(UNKNOWN, sealed) == replayed
    later = seal(json.dumps(json.loads(unseal(sealed)) | {"mood": "good"}))
    assert read_about(UNKNOWN, later) == replayed
