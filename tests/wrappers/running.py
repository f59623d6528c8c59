"""Runs generated files, several at a time, with nothing in their environment but what they need."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tests.debian import program
from tests.node_env import NODE, node_environment

AT_ONCE: Final = 4
SECONDS: Final = 120
# Calls tools through a module of TypeScript.
PROGRAM: Final = Path(__file__).resolve().parent / "programs.mjs"


def environment(**more: str) -> dict[str, str]:
    """Where programs are, and `more`. No proxy stands between us and this machine."""
    for name in ("jq", "curl"):
        program(name, (name,), "The tests of generated scripts")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(
    command: Sequence[str | Path], folder: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """One file, run to its end; those of Python with the one that runs the tests."""
    words = [str(word) for word in command]
    words = [sys.executable, *words] if words[0].endswith(".py") else words
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run_all(
    commands: Iterable[Sequence[str | Path]], folder: Path | None = None, **more: str
) -> list[subprocess.CompletedProcess[str]]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda command: run(command, folder, **more), commands))


def run_typescript(
    file: Path, name: str, more: Mapping[str, str] | None = None, **orders: Any
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """What came of calls through a module of TypeScript, and all that was printed; see programs.mjs.

    `more` is for its environment.
    """
    wanted = json.dumps({"calls": {}, "codes": {}, "retries": {}, **orders})
    done = subprocess.run(
        [str(NODE), str(PROGRAM), str(file), name, wanted],
        env={**node_environment(), **(more or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done


def on_a_terminal(command: Sequence[str | Path], **more: str) -> str:
    """What one file writes to a terminal, run to its end; not more than terminals keep for readers."""
    words = [str(word) for word in command]
    words = [sys.executable, *words] if words[0].endswith(".py") else words
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as reader:
        with open(theirs, "wb", buffering=0) as writer:
            subprocess.run(
                words,
                env=environment(**more),
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                timeout=SECONDS,
                check=False,
            )
        return reader.read(65_536).decode()


def options(arguments: Mapping[str, Any]) -> list[str]:
    """Arguments as options of a script or a command line."""
    return [
        f"--{name.replace('_', '-')}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in arguments.items()
    ]


def load(path: Path) -> ModuleType:
    """A generated module of Python."""
    spec = importlib.util.spec_from_file_location(f"generated_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
