"""Settings of the interpreter that suit a web process."""

from __future__ import annotations

import gc
import sys

SWITCH_SECONDS = 0.0005


def tune_interpreter() -> None:
    """Call once, when everything is imported and before the first request."""
    # The event loop gives the interpreter away with every wait. By default it then waits 5 ms for
    # a thread that computes (the journal's, the admin's), which is longer than a whole call.
    sys.setswitchinterval(SWITCH_SECONDS)
    # What was loaded stays for good; looking through it again and again for garbage is in vain.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5000, 20, 20)
