"""Commands that may be started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from tools.upstreams import Upstream, UpstreamTransport

PROGRAM = str(Path(__file__).with_name("program.py"))
Starts = Callable[..., Upstream]


@pytest.fixture
def mark() -> str:
    """Among the arguments of every process that this test starts."""
    return f"mark-{uuid4().hex}"


@pytest.fixture
def commands(settings: Settings) -> dict[str, Any]:
    """The allow-list, to which tests add."""
    listed: dict[str, Any] = {}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": listed}
    return listed


@pytest.fixture
def starts(commands: dict[str, Any], mark: str) -> Starts:
    """A server that is the test's program, started in one of its ways."""

    def start(way: str = "plain", entry: dict[str, Any] | None = None, **changes: Any) -> Upstream:
        command = [sys.executable, "-S", PROGRAM, way, mark]
        commands[way] = {"command": command, **(entry or {})}
        return Upstream("child", UpstreamTransport.STDIO, command=way, **changes)

    return start
