"""A real MCP server in a process of its own, to be killed and stopped like any."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[2]
WAITING: Final = "waiting\n"
PINGED: Final = "pinged\n"


@dataclass(frozen=True)
class ToolProcess:
    """The server at `url`. Its tool `waits` never answers, and lets know that it was called; so
    does its `ping`."""

    process: subprocess.Popen[str]
    url: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def wait_for_a_call(self) -> None:
        self._wait_for(WAITING)

    def wait_for_a_ping(self) -> None:
        self._wait_for(PINGED)

    def _wait_for(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == line


@contextmanager
def tool_process(python: str, port: int = 0) -> Iterator[ToolProcess]:
    """The server, run with an interpreter that has FastMCP; killed afterwards."""
    process = subprocess.Popen(
        [python, "-m", "tests.agent.inside.waiting_server", str(port)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield ToolProcess(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()
