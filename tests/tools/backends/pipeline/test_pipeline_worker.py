"""`manage.py pipeline_worker`."""

from __future__ import annotations

import signal

from tests.doors import RestDoor
from tests.tools.backends.pipeline.conftest import managing
from tests.tools.backends.pipeline.rows import make_trial


def test_it_answers_queries_of_every_pipeline_until_it_is_told_to_stop(door: RestDoor) -> None:
    # F0-25
    make_trial(timeout_seconds=60)
    with managing("pipeline_worker", "--concurrency", "1", merged=True) as worker:
        assert worker.stdout is not None
        told: list[str] = []
        while " ready." not in (told or [""])[-1]:
            told.append(worker.stdout.readline())
            assert told[-1], told
        assert any("rag.basic" in line for line in told)
        assert door.call("rag_trial", {"query": "moon?"}).status_code == 200
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
