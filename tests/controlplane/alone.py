"""Processes that serve MCP without the rest of the control plane, and the folder they work in."""

from __future__ import annotations

import json
import os
import queue
import sqlite3
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

from mcp import StdioServerParameters

from tests.controlplane.stack import MANAGE, Stack, stack
from tests.processes import wait_until

ROWS: Final = """
from tests.factories import make_client, make_tool, make_toolset
echo = make_tool(name="echo", cache_ttl_seconds=600)
make_tool(name="slow", timeout_seconds=60)
mine = make_toolset(slug="mine", title="My tools", tools=[echo])
print(make_client(name="agent", toolsets=[mine])[1])
"""
HANDSHAKE: Final = (
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


class Alone(Stack):
    """A folder with a database, two tools and a client; nothing runs in it by itself."""

    key = ""

    def fill(self) -> Alone:
        """Create the rows."""
        self.key = self.shell(ROWS).strip()
        return self

    def shell(self, code: str) -> str:
        """Run Python in the folder; what it printed."""
        done = self.manage("shell", "--no-imports", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def calls(self) -> list[dict[str, Any]]:
        """The rows of the request log, oldest first."""
        with sqlite3.connect(self.folder / "controlplane.sqlite3", timeout=10) as database:
            database.row_factory = sqlite3.Row
            found = database.execute("SELECT * FROM tools_toolrequest ORDER BY received_at")
            return [dict(row) for row in found]

    def ended(self, tool: str) -> list[dict[str, Any]]:
        """The calls of a tool whose rows are final."""
        states = {"completed", "failed"}
        return [row for row in self.calls() if row["tool_name"] == tool and row["state"] in states]

    def next_ended(self, tool: str, before: int) -> dict[str, Any]:
        """The call that ended after `before` others of the tool."""
        wait_until(lambda: len(self.ended(tool)) > before, what=f"a final row of {tool}")
        return self.ended(tool)[before]

    def server(self, *arguments: str, **extra: str) -> StdioServerParameters:
        """How an SDK client starts `mcp_stdio` here."""
        command, *first = MANAGE
        return StdioServerParameters(
            command=command,
            args=[*first, "mcp_stdio", *arguments],
            env={**self.environment, **extra},
        )


@contextmanager
def alone(**environment: str) -> Iterator[Alone]:
    """A filled folder of its own, removed afterwards."""
    with stack(**environment) as made:
        yield Alone(made.folder, **environment).fill()


class Process:
    """A command with pipes at its standard streams; its output can be looked at while it runs."""

    def __init__(
        self, made: Stack, *arguments: str, stdin: int = subprocess.PIPE, **extra: str
    ) -> None:
        self._process = subprocess.Popen(
            [*MANAGE, *arguments],
            env={**made.environment, **extra},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.pid = self._process.pid
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.printed: list[str] = []
        self.told: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in (
                (self._process.stdout, self.printed),
                (self._process.stderr, self.told),
            )
        ]
        for reader in self._readers:
            reader.start()

    def send(self, *messages: Mapping[str, Any] | str) -> None:
        """Write messages, one a line; a text is sent as it is."""
        assert self._process.stdin is not None
        for message in messages:
            text = message if isinstance(message, str) else json.dumps(message)
            self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()

    def answer(self, request_id: int | None) -> dict[str, Any]:
        """The next message with that id."""
        return self.message(lambda message: "id" in message and message["id"] == request_id)

    def message(self, wanted: Any) -> dict[str, Any]:
        """The next message that is wanted; others are passed over."""
        while True:
            message: dict[str, Any] = json.loads(self._lines.get(timeout=30))
            if wanted(message):
                return message

    def wait_for(self, words: str) -> None:
        """Return once the words are on standard error; fail when the process ended instead."""

        def told() -> bool:
            if any(words in line for line in self.told):
                return True
            assert self._process.poll() is None, "".join(self.told)
            return False

        wait_until(told, 60, words)

    def close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit code, all output read."""
        code = self._process.wait(30)
        for reader in self._readers:
            reader.join(10)
        return code

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _read(self, stream: IO[bytes], into: list[str]) -> None:
        for line in stream:
            into.append(line.decode())
            if into is self.printed:
                self._lines.put(line.decode())


@contextmanager
def process(
    made: Stack, *arguments: str, stdin: int = subprocess.PIPE, **extra: str
) -> Iterator[Process]:
    """A running command, killed at the end if it has not left by itself."""
    started = Process(made, *arguments, stdin=stdin, **extra)
    try:
        yield started
    finally:
        started.kill()
