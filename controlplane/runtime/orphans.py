"""Processes that outlived a supervisor killed with -9, and the files it left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from controlplane.runtime.control import process_lives, wait_for
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.supervisor_config import read_commands

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process that runs a command of the last start, word for word."""

    pid: int
    program: str


def find_orphans(paths: RuntimePaths) -> list[Orphan]:
    """The leftovers of this state folder. Ask only when no supervisor lives: its own would count.

    A process counts when its whole command line equals one in the written configuration; each of
    those names this folder, so neither another checkout's processes nor an operator's `tail` do.
    """
    programs = {tuple(command): name for name, command in read_commands(paths).items()}
    return [
        Orphan(pid, programs[arguments])
        for pid, arguments in _command_lines(set(programs))
        if _is_own(pid)
    ]


def stop_orphans(paths: RuntimePaths, seconds: float) -> list[Orphan]:
    """Stop the leftovers, by force when they do not go in time, and remove stale files."""
    orphans = find_orphans(paths)
    for orphan in orphans:
        _signal(orphan.pid, signal.SIGTERM)
    wait_for(lambda: not any(process_lives(orphan.pid) for orphan in orphans), seconds)
    # A pool's children may outlive their parent; they share its process group.
    for orphan in orphans:
        _signal_group(orphan.pid, signal.SIGKILL)
    wait_for(lambda: not any(process_lives(orphan.pid) for orphan in orphans), 5)
    for stale in (paths.supervisor_socket, paths.supervisor_pid, paths.redis_socket):
        stale.unlink(missing_ok=True)
    return orphans


def _command_lines(wanted: set[tuple[str, ...]]) -> list[tuple[int, tuple[str, ...]]]:
    if (PROC / "self" / "cmdline").exists():
        return [pair for pair in _from_proc() if pair[1] in wanted]
    # ps joins arguments with blanks, so compare them joined.
    joined = {" ".join(command): command for command in wanted}
    return [(pid, joined[line]) for pid, line in _from_ps() if line in joined]


def _from_proc() -> list[tuple[int, tuple[str, ...]]]:
    found = []
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            raw = (entry / "cmdline").read_bytes()
            if raw:
                arguments = raw.removesuffix(b"\0").split(b"\0")
                found.append((int(entry.name), tuple(map(os.fsdecode, arguments))))
    return found


def _from_ps() -> list[tuple[int, str]]:
    program = shutil.which("ps")
    if program is None:
        return []
    listing = subprocess.run(
        [program, "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=False
    )
    pairs = (line.strip().partition(" ") for line in listing.stdout.splitlines())
    return [(int(pid), command.strip()) for pid, _, command in pairs if pid.isdigit()]


def _is_own(pid: int) -> bool:
    """Whether this user may stop the process."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _signal_group(pid: int, number: signal.Signals) -> None:
    """Signal the process group that supervisord made for the program started as `pid`."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
