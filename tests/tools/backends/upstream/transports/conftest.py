"""Servers of the SDK, and commands that may be started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

PROGRAM = str(Path(__file__).with_name("program.py"))


@pytest.fixture(scope="package")
def sdk_port() -> Iterator[int]:
    """The port of a server made with the SDK."""
    process = subprocess.Popen([sys.executable, PROGRAM, "http"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    yield int(process.stdout.readline())
    process.terminate()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
def commands(settings: Settings) -> dict[str, Any]:
    """The allow-list, to which tests add."""
    listed: dict[str, Any] = {"calculator": {"command": [sys.executable, PROGRAM, "stdio"]}}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": listed}
    return listed
