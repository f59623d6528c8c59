"""Starts the client programs and keeps what they saw."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.client_envs import client_python
from tests.controlplane.stack import MANAGE, Stack
from tests.node_env import NODE, node_environment, node_packages

PROGRAMS: Final = Path(__file__).resolve().parent / "programs"
PROGRAM_SECONDS: Final = 120
_BOTH_ERAS: Final = ("modern", "handshake")
_OLDER: Final = ("2025-06-18", "2025-03-26", "2024-11-05")


@dataclass(frozen=True, slots=True)
class Program:
    """A client: which environment it needs, and over what it can talk."""

    file: str
    transports: tuple[str, ...]
    environment: str = ""

    def command(self) -> list[str]:
        path = str(PROGRAMS / self.file)
        if self.file.endswith(".mjs"):
            return [str(NODE), path]
        python = client_python(self.environment) if self.environment else sys.executable
        return [str(python), path]


def _in_both_eras(*transports: str) -> tuple[str, ...]:
    return tuple(f"{name} {era}" for name in transports for era in _BOTH_ERAS)


def _older(transport: str) -> tuple[str, ...]:
    return tuple(f"{transport} {version}" for version in _OLDER)


CLIENTS: Final[Mapping[str, Program]] = {
    "sdk2": Program("sdk2.py", _in_both_eras("streamable_http", "sse", "websocket", "stdio")),
    "sdk1": Program(
        "sdk1.py",
        ("streamable_http", *_older("streamable_http"), "sse", "websocket", "stdio"),
        "sdk1",
    ),
    "fastmcp": Program(
        "fastmcp_client.py", _in_both_eras("streamable_http", "sse", "stdio"), "fastmcp"
    ),
    "openai-agents": Program(
        "openai_agents.py", ("streamable_http", "sse", "stdio"), "openai-agents"
    ),
    "langchain": Program(
        "langchain_adapters.py", ("streamable_http", "sse", "websocket", "stdio"), "langchain"
    ),
    "typescript": Program("typescript.mjs", _in_both_eras("streamable_http", "sse", "stdio")),
}


@dataclass(slots=True)
class Plane:
    """A running control plane, and the visits of clients to it."""

    stack: Stack
    _visits: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.stack.port}"

    @property
    def stdio(self) -> Sequence[str]:
        """The command that serves one client over its standard streams."""
        return [*MANAGE, "mcp_stdio"]

    def visited_by(self, client: str) -> Mapping[str, Any]:
        """What a client saw, by transport. It goes once, over all of them."""
        if client not in self._visits:
            self._visits[client] = self._visit(CLIENTS[client])
        return self._visits[client]

    def visited_again_by(self, client: str) -> Mapping[str, Any]:
        """The same, from a second visit."""
        del self._visits[client]
        return self.visited_by(client)

    def _visit(self, program: Program) -> Mapping[str, Any]:
        command, *arguments = self.stdio
        orders = {
            "url": self.url,
            "command": command,
            "args": arguments,
            "env": dict(self.stack.environment),
            "transports": program.transports,
        }
        environment = {**node_environment()}
        if program.file.endswith(".mjs"):
            environment["NODE_PACKAGES"] = str(node_packages())
        done = subprocess.run(
            [*program.command(), json.dumps(orders)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
        seen = {
            visit.pop("transport"): visit for visit in map(json.loads, done.stdout.splitlines())
        }
        assert set(seen) == set(program.transports), done.stderr
        return seen
