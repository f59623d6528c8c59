"""`make chat`, as a person types it who has its packages already."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.programs import PROJECT, SECONDS, environment
from tests.agent.tool_process import ToolProcess, tool_process
from tests.client_envs import client_python
from tests.controlplane.stack import free_port


@pytest.fixture(scope="module")
def server() -> Iterator[ToolProcess]:
    with tool_process(str(client_python("langchain"))) as running:
        yield running


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """An environment for the chat, marked as complete: nothing is installed."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{client_python("langchain")}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".installed").touch()
    return tmp_path


def chatted(ready: Path, *given: str, **variables: str) -> str:
    """What is shown to whoever asks for a word twice."""
    inherited = environment(**variables)
    # Tests may be run by make, which would tell its settings to this one.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PORT"):
        inherited.pop(name, None)
    done = subprocess.run(
        [str(shutil.which("make")), "chat", f"VENV_AGENT={ready}", *given],
        cwd=PROJECT,
        env=inherited,
        input='Double "tea"\n',
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_make_chat_takes_the_port_of_a_control_plane(ready: Path, server: ToolProcess) -> None:
    # F2-10 S1-001
    said = chatted(ready, f"PORT={server.port}")
    assert said.startswith("Initialized (With MCP), 5 tools, no language model")
    assert "tea tea" in said


def test_make_chat_takes_an_address_rather_than_a_port(ready: Path, server: ToolProcess) -> None:
    # F2-10 S1-001
    said = chatted(ready, f"PORT={free_port()}", MCP_URL=server.url)
    assert said.startswith("Initialized (With MCP), 5 tools, no language model")
    assert "tea tea" in said
