"""Programs that tests need beside the project's own packages: installed once, kept in `.cache/`.

An install is known by the hash of the file that pins its versions. Runs at the same time wait for
each other; an install that broke off is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).resolve().parents[1] / ".cache"
INSTALL_SECONDS: Final = 600


class InstallFailed(Exception):
    """What a test needs could not be installed; the text says what was tried and what it said."""


def installed_once(name: str, pinned_by: Path, install: Callable[[Path], None]) -> Path:
    """The folder that `install` filled, now or in an earlier run."""
    digest = hashlib.sha256(pinned_by.read_bytes()).hexdigest()[:16]
    folder = CACHE / f"{name}-{digest}"
    complete = folder / ".complete"
    with _alone(name):
        if not complete.exists():
            for old in CACHE.glob(f"{name}-????????????????"):
                shutil.rmtree(old)
            folder.mkdir()
            install(folder)
            complete.touch()
    return folder


def run_installer(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Run one step of an install to its end.

    Raises:
        InstallFailed: it failed or took too long.
    """
    shown = " ".join(command)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise InstallFailed(f"{shown}\n{fault}") from fault
    if done.returncode:
        raise InstallFailed(f"{shown}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")


@contextmanager
def _alone(name: str) -> Iterator[None]:
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
