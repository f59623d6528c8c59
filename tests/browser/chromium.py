"""Finds a Chromium, or installs Debian's."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
INSTALL_SECONDS: Final = 600
MISSING: Final = "The tests of the admin need Chromium. Install it (Debian: apt-get install chromium), then run them again."


def chromium() -> str:
    """The program's path.

    Raises:
        RuntimeError: there is none, and it cannot be installed here.
    """
    return _found() or _installed()


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _installed() -> str:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(MISSING)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run(
            ["apt-get", "--quiet", *step],  # noqa: S607 - wherever the system has it
            env=environment,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{MISSING}\n{done.stderr}")
    found = _found()
    if found is None:
        raise RuntimeError(MISSING)
    return found
