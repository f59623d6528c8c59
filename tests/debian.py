"""Programs that tests need from the system: found, or installed from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Final

INSTALL_SECONDS: Final = 600


def program(package: str, names: Sequence[str], needed_by: str) -> str:
    """The path of the first of `names` there is; without any, `package` is installed.

    Raises:
        RuntimeError: there is none, and it cannot be installed here.
    """
    found = _found(names)
    if found is None:
        missing = (
            f"{needed_by} need {package}. Install it (Debian: apt-get install {package}), "
            "then run them again."
        )
        _install(package, missing)
        found = _found(names)
        if found is None:
            raise RuntimeError(missing)
    return found


def _found(names: Sequence[str]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def _install(package: str, missing: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(missing)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", package]):
        done = subprocess.run(
            ["apt-get", "--quiet", *step],  # noqa: S607 - wherever the system has it
            env=environment,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{missing}\n{done.stderr}")
