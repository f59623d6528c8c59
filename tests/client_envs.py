"""Virtual environments for clients that cannot live beside the project's own packages."""

from __future__ import annotations

import argparse
import os
import sys
import venv
from functools import partial
from pathlib import Path
from typing import Final

from tests.cached_installs import installed_once, run_installer

REQUIREMENTS: Final = Path(__file__).resolve().parent / "clients" / "requirements"


def client_python(name: str) -> Path:
    """The interpreter of the environment that tests/clients/requirements/<name>.txt pins."""
    pins = REQUIREMENTS / f"{name}.txt"
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    folder = installed_once(f"{name}-py{version}", pins, partial(_install, pins))
    return folder / "bin" / "python"


def _install(pins: Path, folder: Path) -> None:
    venv.create(folder, with_pip=False, symlinks=True)
    # The list is complete, so nothing is resolved; our own pip does the work for the new one.
    command = [
        *(sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"),
        *("--no-deps", "--quiet", "--disable-pip-version-check", "-r", str(pins)),
    ]
    run_installer(command, folder, os.environ)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print the interpreter of an environment.")
    parser.add_argument("name")
    sys.stdout.write(f"{client_python(parser.parse_args().name)}\n")
