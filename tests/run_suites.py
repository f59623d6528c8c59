"""Runs the suite in two lanes at once: whole control planes in one, all the rest in the other.

Both wait for processes more than they compute, so side by side they take little longer than the
longer one. The rest runs on SQLite, then on PostgreSQL. What the lanes print comes out one after the
other.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pytest", help="how pytest is started")
    parser.add_argument("--stacks", required=True, help="folders of the first lane")
    parser.add_argument("--once", required=True, help="folders that PostgreSQL is spared")
    options = parser.parse_args()
    # Whoever ends this run ends its lanes with it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    pytest, stacks = shlex.split(options.pytest), options.stacks.split()
    others = [*pytest, *(f"--ignore={folder}" for folder in stacks)]
    spared = [f"--ignore={folder}" for folder in options.once.split()]
    postgres = [sys.executable, "-m", "tests.run_on_postgres"]
    with tempfile.TemporaryFile() as printed, lane([*pytest, *stacks], printed) as beside:
        outcomes = [run(others), run([*postgres, *others, *spared]), beside.wait()]
        printed.seek(0)
        sys.stdout.write(printed.read().decode(errors="replace"))
    return max(outcomes)


def run(command: list[str]) -> int:
    """The exit code of `command`, whose output is shown at once."""
    with lane(command, None) as process:
        return process.wait()


@contextmanager
def lane(command: list[str], output: IO[bytes] | None) -> Iterator[subprocess.Popen[bytes]]:
    """`command` running; told to end if it still runs when nobody waits for it any more."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        if process.poll() is None:
            # As Ctrl-C: pytest then takes down what its tests have started.
            process.send_signal(signal.SIGINT)
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
