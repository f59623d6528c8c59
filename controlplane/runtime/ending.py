"""The end of a process that has served: without taking apart, object by object, what it had loaded."""

from __future__ import annotations

import atexit
import os
import sys

_in_order = False


def skip_teardown_after_serving() -> None:
    """Call before anything else is imported: exit handlers run in the opposite order, and this is to be the last.

    Everything is closed and written by then. Python would go on to free hundreds of thousands of objects,
    which takes a fifth of the processor time that a start takes, and all of it goes away with the process.
    """
    atexit.register(_end)


def served() -> None:
    """The process leaves in order, with status 0."""
    global _in_order  # noqa: PLW0603 - there is one process
    _in_order = True


def _end() -> None:
    if _in_order:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
