"""The demo corpus at a start: handed to the workers, waited for, and never in the way of serving."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db import DatabaseError

from controlplane.runtime.probe import redis_answers
from controlplane.runtime.release import release_database
from tools.selectors import catalogue_version
from tools.services.corpora import CorpusFault
from tools.services.demo_corpus import DemoState, demo_state, fill_demo

LOOK_SECONDS: Final = 0.25
TELL_SECONDS: Final = 10.0
# Workers go on after that; only nobody waits for them any more.
LONGEST_WAIT: Final = 900.0
LONGEST_STANDSTILL: Final = 120.0

Say = Callable[[str], None]


def ingest_demo(say: Say, given_up: Callable[[], bool]) -> bool:
    """Fill and index the demo corpus; whether pipelines can be asked about it now."""
    try:
        return _ingest(say, given_up)
    except (CorpusFault, DatabaseError, OSError) as fault:
        say(f"  Corpus      the demo documents are not indexed: {_line(fault)}")
        say(
            "              The service runs all the same; pipelines on them have nothing to search."
        )
        return False
    finally:
        release_database()


def catalogue_with_demo() -> int:
    """The number of the catalogue as the database has it now; 0, which every process has, while it is away."""
    try:
        return catalogue_version()
    except DatabaseError:
        return 0
    finally:
        release_database()


def _ingest(say: Say, given_up: Callable[[], bool]) -> bool:
    # Loaded here: it takes a while, and a process that only oversees others has no use for it.
    import controlplane.celery  # noqa: F401

    if not redis_answers(settings.REDIS_URL, timeout=2):
        raise CorpusFault("Redis does not answer, so no worker can be told to.")
    began = time.monotonic()
    version_id = fill_demo(settings.DEMO_DIR)
    if version_id is None:
        return False
    state = demo_state(version_id)
    if state.in_use:
        say(f"  Corpus      demo: {state.documents} documents, up to date")
        return True
    say(f"  Corpus      demo: {state.documents} documents are indexed now, this once")
    state = _wait(version_id, say, given_up)
    if state.busy:
        if not given_up():
            say("  Corpus      demo: goes on in the background; see Corpora in the admin")
        return False
    if not state.in_use:
        raise CorpusFault(state.error or f"the index version ended as {state.state}")
    seconds = time.monotonic() - began
    say(f"  Corpus      demo: {state.passages} passages indexed in {seconds:.0f} s")
    return True


def _wait(version_id: int, say: Say, given_up: Callable[[], bool]) -> DemoState:
    """Look until the version is built or nothing moves, telling now and then how far it is."""
    began = moved = told = time.monotonic()
    state = demo_state(version_id)
    while state.busy and not given_up():
        now = time.monotonic()
        if now > began + LONGEST_WAIT or now > moved + LONGEST_STANDSTILL:
            break
        if now > told + TELL_SECONDS:
            told = now
            say(f"  Corpus      demo: {state.done} of {state.total} documents read")
        time.sleep(LOOK_SECONDS)
        before, state = state, demo_state(version_id)
        if state != before:
            moved = time.monotonic()
    return state


def _line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0] if lines else type(fault).__name__
