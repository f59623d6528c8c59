"""Where the agent's own programs write what happens."""

from __future__ import annotations

import logging
from typing import Final

from typing_extensions import override

from agent.terminal import visible

# Of a name or a reason that somebody else wrote.
LONGEST: Final = 200


def one_line(text: object) -> str:
    """What somebody else wrote, so that it cannot pass for a line of the log, nor fill it."""
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


class _Visible(logging.Formatter):
    """Lines for a terminal: what servers and models said of their faults is in them."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def set_up_logs() -> None:
    """Warnings and errors to standard error, each once."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Visible("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # The agent tells what came of a connection; the SDK would add pages about how.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
