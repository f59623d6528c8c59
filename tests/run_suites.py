"""Runs the suite in two lanes at once: most of it on SQLite in one, whole control planes in the other.

Whole control planes wait for processes more than they compute. Their lane goes on with the tests on
PostgreSQL, and what it prints comes out when both are done. Only the run on SQLite is measured: tracing every
process of every lane takes longer than the tests, and there is hardly a line that the others reach alone.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO

from typing_extensions import override


class Lane(threading.Thread):
    """Commands that run one after the other, whatever becomes of each. No output: it is shown at once."""

    def __init__(self, commands: Sequence[Sequence[str]], output: IO[bytes] | None = None) -> None:
        super().__init__()
        self.outcomes: list[int] = []
        self._commands = commands
        self._output = output
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()

    @override
    def run(self) -> None:
        for command in self._commands:
            if self._ended.is_set():
                return
            self._process = subprocess.Popen(command, stdout=self._output, stderr=subprocess.STDOUT)
            self.outcomes.append(self._process.wait())

    def end(self) -> None:
        """Tell what still runs to end, and wait for it."""
        self._ended.set()
        if self._process is not None and self._process.poll() is None:
            # As Ctrl-C: pytest then takes down what its tests have started.
            self._process.send_signal(signal.SIGINT)
        self.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pytest", help="arguments that start pytest")
    parser.add_argument("--measured", required=True, help="what goes before them to be measured")
    parser.add_argument("--stacks", required=True, help="folders of whole control planes")
    parser.add_argument("--once", required=True, help="folders that PostgreSQL is spared")
    options = parser.parse_args()
    # Whoever ends this run ends its lanes with it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    python, pytest = [sys.executable], shlex.split(options.pytest)
    stacks = options.stacks.split()
    others = [*pytest, *(f"--ignore={folder}" for folder in stacks)]
    sqlite = [*python, *shlex.split(options.measured), *others]
    postgres = [*python, "-m", "tests.run_on_postgres", *python, *others]
    spared = [f"--ignore={folder}" for folder in options.once.split()]
    with tempfile.TemporaryFile() as printed:
        beside = Lane([[*python, *pytest, *stacks], [*postgres, *spared]], printed)
        outcomes = run([Lane([sqlite]), beside])
        printed.seek(0)
        sys.stdout.write(printed.read().decode(errors="replace"))
    return max(outcomes)


def run(lanes: Sequence[Lane]) -> list[int]:
    """The exit codes of everything that the lanes ran."""
    try:
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    finally:
        for lane in lanes:
            lane.end()
    return [outcome for lane in lanes for outcome in lane.outcomes]


if __name__ == "__main__":
    sys.exit(main())
