"""The end of a process: what was opened is closed, whatever is left out after that."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
from controlplane.runtime.ending import served, skip_teardown_after_serving
skip_teardown_after_serving()
import atexit, sys, threading
atexit.register(print, "handlers ran")

class Loaded:
    def __del__(self):
        sys.__stdout__.write("taken apart\\n")
        sys.__stdout__.flush()

kept = Loaded()
threading.Thread(target=print, args=("threads ended",)).start()
{last}
"""


@pytest.mark.parametrize(
    ("last", "status", "said"),
    [
        ("served(); sys.exit(0)", 0, ["threads ended", "handlers ran"]),
        ("sys.exit(3)", 3, ["threads ended", "handlers ran", "taken apart"]),
    ],
)
def test_only_the_freeing_of_what_was_loaded_is_left_out(
    last: str, status: int, said: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(last=last)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()) == (status, said)
