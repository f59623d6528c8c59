"""A scriptable MCP server for tests, as a real process: over Streamable HTTP or as a stdio program.

Its tools are listed in tests/mcp_upstream_offer.py, how it can be made to misbehave in the `Switches` of
tests/mcp_upstream_state.py. Switches and the record of what it did live in a folder, so that they
outlast a kill:

    with http_upstream(tmp_path) as upstream:
        upstream.set(delay_ms=100)
        ...                             # calls to upstream.url
        upstream.kill()                 # as a crash would
        upstream.start()                # again, on the same port
        assert len(upstream.executions("counted")) == 1

    entry = stdio_entry(tmp_path)       # of the allow-list of commands
    Folder(tmp_path).set(hang="call")
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.doors import free_port
from tests.mcp_upstream_state import Folder
from tests.processes import wait_until

PROJECT = Path(__file__).resolve().parent.parent
# Without a directory or a variable of the environment to lean on: children get neither from us.
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tests.mcp_upstream_program import main; main()"


def program(folder: Path) -> list[str]:
    """The command that runs it over stdio."""
    return [sys.executable, "-c", BOOT, str(PROJECT), str(folder)]


def stdio_entry(folder: Path) -> dict[str, Any]:
    """Its entry in the allow-list of commands."""
    return {"command": program(folder), "environment": [], "directory": None}


class Record(Folder):
    """What a server did, for tests to look at."""

    def executions(self, tool: str) -> list[dict[str, Any]]:
        """The calls of a tool that reached it."""
        return [call for call in self.events("call") if call["tool"] == tool]

    def pids(self) -> list[int]:
        """Every process it ever was."""
        return [started["pid"] for started in self.events("started")]

    def alive(self) -> list[int]:
        """Those of them that still run."""
        return [pid for pid in self.pids() if _runs(pid)]


class HttpUpstream(Record):
    """The server behind a port that stays the same over restarts."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> HttpUpstream:
        """Run, and wait until the port is open."""
        self.stop()
        with (self.path / "output").open("ab") as output:
            command = [*program(self.path), "--port", str(self.port)]
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        wait_until(self._listening, what="a listening upstream")
        return self

    def kill(self) -> None:
        """End it as a crash would, and wait until it is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order, if it runs."""
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """Let it be there and do nothing."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGCONT)

    def _end(self, number: int) -> None:
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(number)
                self.process.send_signal(signal.SIGCONT)
            self.process.wait(10)
            self.process = None

    def _listening(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.path / "output").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @override
    def __repr__(self) -> str:
        return f"<upstream {self.url}>"


@contextmanager
def http_upstream(folder: Path, **switches: Any) -> Iterator[HttpUpstream]:
    """A running server; gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    upstream = HttpUpstream(folder)
    upstream.set(**switches)
    try:
        yield upstream.start()
    finally:
        upstream.kill()


def _runs(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] != "Z"
