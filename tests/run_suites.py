"""Runs the suite in pieces, several at once: on SQLite, on PostgreSQL, and whole control planes.

There are as many lanes as the smallest machine has cores: on a crowded one Redis answers too late and guards
do without it, as they should. Each lane takes the next piece when it is done with one, and what a piece prints
comes out when it is done. The piece on PostgreSQL has a lane of its own: it waits for the server for more than half
of its time. Only the pieces on SQLite are measured: there is hardly a line that the others reach
alone.
"""

from __future__ import annotations

import argparse
import os
import queue
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Final

from typing_extensions import override

LANES: Final = 2
# What pytest returns when nothing was selected.
NO_TESTS: Final = 5
Pieces = queue.SimpleQueue[Sequence[str]]
_printing = threading.Lock()


class Lane(threading.Thread):
    """Runs pieces one after the other, whatever becomes of each, until none is left."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__()
        self.outcomes: list[int] = []
        self._pieces = pieces
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()

    @override
    def run(self) -> None:
        while not self._ended.is_set():
            try:
                piece = self._pieces.get_nowait()
            except queue.Empty:
                return
            self._run([sys.executable, *piece])

    def _run(self, command: Sequence[str]) -> None:
        with tempfile.TemporaryFile() as printed:
            self._process = subprocess.Popen(
                command, stdout=printed, stderr=subprocess.STDOUT, env=_environment()
            )
            self.outcomes.append(self._process.wait())
            printed.seek(0)
            with _printing:
                sys.stdout.write(f"\n{shlex.join(command)}\n")
                sys.stdout.write(printed.read().decode(errors="replace"))
                sys.stdout.flush()

    def end(self) -> None:
        """Tell what still runs to end; joining waits for it."""
        self._ended.set()
        if self._process is not None and self._process.poll() is None:
            # As Ctrl-C: pytest then takes down what its tests have started.
            self._process.send_signal(signal.SIGINT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pytest", help="arguments that start pytest")
    parser.add_argument(
        "--measured", required=True, help="what goes before them to be measured, {} for the piece"
    )
    parser.add_argument(
        "--stacks", action="append", default=[], help="a piece of whole control planes"
    )
    parser.add_argument("--apart", action="append", default=[], help="a piece of its own on SQLite")
    parser.add_argument("--once", required=True, help="folders that PostgreSQL is spared")
    options = parser.parse_args()
    # Whoever ends this run ends its lanes with it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    shared = _queue(*_pieces(options))
    outcomes = run([*(Lane(shared) for _ in range(LANES)), Lane(_queue(_on_postgres(options)))])
    # Arguments may select tests of one piece alone.
    return max((one for one in outcomes if one != NO_TESTS), default=NO_TESTS)


def _pieces(options: argparse.Namespace) -> list[Sequence[str]]:
    """What to give to python, the longest first."""
    pytest = shlex.split(options.pytest)

    def measured(piece: str) -> list[str]:
        return [*shlex.split(options.measured.replace("{}", piece)), *pytest]

    stacks = [piece.split() for piece in options.stacks]
    apart = [piece.split() for piece in options.apart]
    return [
        # A folder that no piece names is in this one.
        [*measured("rest"), *_without(*stacks, *apart)],
        *(
            [*measured(str(number)), *piece, *_without(*stacks)]
            for number, piece in enumerate(apart)
        ),
        *([*pytest, *piece] for piece in stacks),
    ]


def _on_postgres(options: argparse.Namespace) -> Sequence[str]:
    stacks = [piece.split() for piece in options.stacks]
    return [
        *("-m", "tests.run_on_postgres", sys.executable, *shlex.split(options.pytest)),
        *_without(*stacks, options.once.split()),
    ]


def _queue(*pieces: Sequence[str]) -> Pieces:
    made = Pieces()
    for piece in pieces:
        made.put(piece)
    return made


def _without(*pieces: Sequence[str]) -> list[str]:
    return [f"--ignore={path}" for piece in pieces for path in piece]


def _environment() -> dict[str, str]:
    """Hundreds of processes import the same modules: also where bytecode is not to be kept, compile them once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


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
        for lane in lanes:
            lane.join()
    return [outcome for lane in lanes for outcome in lane.outcomes]


if __name__ == "__main__":
    sys.exit(main())
