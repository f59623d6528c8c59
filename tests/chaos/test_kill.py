"""kill -9 of web, Redis and worker under 200 concurrent calls: nothing lost, nothing stuck."""

from __future__ import annotations

import sys

import pytest

from tests.chaos.campaign import Campaign
from tests.controlplane.stack import stack
from tests.processes import wait_until


def campaign(rounds: int) -> None:
    with stack(SERVER__TIMEOUT="5") as running:
        running.up().wait_until_running()
        attack = Campaign(running)
        attack.prepare()
        attack.run(rounds)
        attack.settle()
        assert attack.faults() == []
        assert len(attack.books.answered) > rounds * 100
        wait_until(lambda: attack.held_slots() == 0, what="free slots")
        wait_until(
            lambda: running.get("/health")[1]["status"] == "healthy", 15, "a healthy service"
        )
        slowest = max(seconds for _, seconds in attack.books.recoveries)
        sys.stdout.write(
            f"\n{rounds} kills, {len(attack.books.answered)} calls answered, "
            f"{len(attack.books.unanswered)} cut off, slowest recovery {slowest:.1f} s\n"
        )


def test_killed_processes_lose_no_call_and_keep_no_slot() -> None:
    campaign(rounds=3)


@pytest.mark.soak
def test_twenty_kills_lose_no_call_and_keep_no_slot() -> None:
    campaign(rounds=20)


def test_the_campaign_notices_a_lossy_journal() -> None:
    with stack(SERVER__TIMEOUT="5", DJANGO_SETTINGS_MODULE="tests.chaos.lossy_settings") as running:
        running.up().wait_until_running()
        attack = Campaign(running)
        attack.prepare()
        attack.run(2, ["web"])
        attack.settle()
        assert any("has no row" in fault for fault in attack.faults())
