"""When this process began, which is before any of our code could look at a clock."""

from __future__ import annotations

import os
import time
from pathlib import Path

STARTED_FIELD = 19  # of /proc/self/stat, counted behind the name of the program


def process_age() -> float:
    """Seconds since the process was started; since now where the system does not tell."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        started = int(fields[STARTED_FIELD]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
