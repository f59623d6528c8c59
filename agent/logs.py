"""Where the agent's own programs write what happens."""

from __future__ import annotations

import logging


def set_up_logs() -> None:
    """Warnings and errors to standard error, each once."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    # The agent tells what came of a connection; the SDK would add pages about how.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
