"""How late a machine is with what it was to do, which is not the agent's doing."""

from __future__ import annotations

import threading
import time
from typing import Final

from agent.chat_agent import LOAD_SECONDS

SECONDS: Final = 5.0


class Waiting:
    """Waits as long as the agent may, beside it: how late that ends is the machine's doing, not the agent's."""

    def __init__(self) -> None:
        self._late = 0.0
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        due = time.monotonic() + LOAD_SECONDS
        threading.Event().wait(LOAD_SECONDS)
        self._late = time.monotonic() - due

    def in_time(self, took: float) -> bool:
        """Whether a start that took so long would have kept its five seconds on a machine that is not late."""
        if took < SECONDS:
            return True
        self._thread.join()
        return took - self._late < SECONDS
