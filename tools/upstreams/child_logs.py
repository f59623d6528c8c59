"""Where the logs of children are kept: what both who writes and who reads them must know.

Each process keeps the log of its own children in a list; a sorted set names these lists, the latest last.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

LOG_KEY: Final = "cp:upstream-log:{slug}:{process}"
LOGS_KEY: Final = "cp:upstream-logs:{slug}"
# Long enough for whoever comes in the morning.
KEPT_SECONDS: Final = 48 * 3600
KEPT_LINES: Final = 200
LONGEST_LINE: Final = 1000
# Processes come and go with every start.
KEPT_PROCESSES: Final = 8


class Happening(StrEnum):
    """What an entry of the log tells."""

    STARTED = "started"
    WROTE = "wrote"
    # On the output that is for messages, where other words do harm.
    PRINTED = "printed"
    LEFT_OUT = "left_out"
    ENDED = "ended"
