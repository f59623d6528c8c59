"""How long this machine needs, just now, for a start that has nothing of ours in it.

The tests share the machine with each other, so a limit in seconds says more about the neighbours than
about the program. What a start of ours may cost is told in starts of a bare one, taken in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

# What every process of the product has to load before its own first line does anything.
_BARE_START: Final = (
    "import sys; sys.modules['opentelemetry.sdk.metrics'] = None; "
    "import celery, django, mcp.server, redis.asyncio, rest_framework, uvicorn"
)

# What such a start took on two cores with nothing else to do.
_QUIET_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class BareStart:
    """What a process that only loads the libraries took."""

    processor_seconds: float
    waited_seconds: float


def bare_start() -> BareStart:
    """Load the libraries in a process of its own."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", _BARE_START])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return BareStart(used.ru_utime + used.ru_stime, time.monotonic() - began)


def stretched(seconds: float) -> float:
    """A limit for a quiet machine, as many times longer as this one is slower at the moment."""
    return seconds * max(1.0, bare_start().waited_seconds / _QUIET_SECONDS)


def in_time(seconds: float, limit: float) -> bool:
    """Whether what took so long would have kept the limit on a quiet machine."""
    return seconds < limit or seconds < stretched(limit)
