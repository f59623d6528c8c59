"""A hundred restarts in a row while eight clients call without pause."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.doors import RestDoor
from tests.federation.faulty import Reply, behind, call
from tests.journal import row_of
from tests.processes import wait_until
from tools.models import ServiceConfiguration

CLIENTS = 8
RESTARTS = 100


@pytest.mark.soak
@pytest.mark.parametrize("era", ["modern", "handshake"])
def test_a_hundred_restarts_under_load_lose_no_call_and_repeat_none_that_is_not_safe(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    ServiceConfiguration(service_name="soak", security_rate_limit=1_000_000).save()
    # A breaker that opens at the first restart would keep the load off the others.
    with behind(tmp_path, "http", switches={"era": era}, failure_threshold=100) as hand:
        door.start()
        assert call(door, "echo").status == 200
        replies: dict[str, Reply] = {}
        over = threading.Event()

        def client(number: int) -> None:
            turn = 0
            while not over.is_set():
                turn += 1
                key = f"{number}-{turn}"
                replies[key] = call(door, "counted", key=key)
                call(door, "echo", text=key)
                if replies[key].status != 200:
                    over.wait(0.05)

        threads = [threading.Thread(target=client, args=(one,)) for one in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for _ in range(RESTARTS):
            before = sum(one.status == 200 for one in list(replies.values()))
            hand.kill()
            hand.start()
            # Calls come through again before the next restart.
            wait_until(
                lambda before=before: (  # type: ignore[misc]
                    sum(one.status == 200 for one in list(replies.values())) >= before + CLIENTS
                ),
                60,
                "good calls after a restart",
            )
        over.set()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        executed = Counter(one["arguments"]["key"] for one in hand.executions("counted"))
        assert max(executed.values()) == 1
        for key, reply in replies.items():
            if reply.status == 200:
                assert executed[key] == 1
            else:
                assert reply.code == "SERVICE_UNAVAILABLE", reply
        for reply in replies.values():
            row_of(reply.body["request_id"])
