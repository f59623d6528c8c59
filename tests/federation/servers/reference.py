"""The reference servers of npm: how the control plane starts them, and clients that ask them directly."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp import StdioServerParameters

from tests.doors import free_port
from tests.node_env import NODE, node_environment, node_packages
from tests.processes import wait_until

EVERYTHING: Final = "everything"
OVER_HTTP: Final = "everything-http"
FILESYSTEM: Final = "filesystem"
MEMORY: Final = "memory"
SLUGS: Final = (EVERYTHING, OVER_HTTP, FILESYSTEM, MEMORY)


@dataclass(frozen=True, slots=True)
class Program:
    """A server over stdio: its command, and the variables it is given."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """As the allow-list of commands has it."""
        return {"command": self.command, "environment": list(self.environment), "directory": None}

    def parameters(self) -> StdioServerParameters:
        """As the SDK's client starts it."""
        command, *arguments = self.command
        return StdioServerParameters(
            command=command, args=arguments, env=dict(self.environment) or None
        )


def programs(folder: Path, files: Path) -> Mapping[str, Program]:
    """The servers that are started over stdio; each call has a memory of its own, all share files."""
    return {
        EVERYTHING: Program([*_node("everything"), "stdio"]),
        FILESYSTEM: Program([*_node("filesystem"), str(files)]),
        MEMORY: Program(_node("memory"), {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}),
    }


@contextmanager
def everything_over_http(folder: Path) -> Iterator[str]:
    """The everything server at an address of its own."""
    port = free_port()
    with (folder / "everything.log").open("wb") as output:
        process = subprocess.Popen(
            [*_node("everything"), "streamableHttp"],
            env={**node_environment(), "PORT": str(port)},
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(
            lambda: b"listening on port" in (folder / "everything.log").read_bytes(),
            what="the everything server",
        )
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def _node(name: str) -> list[str]:
    package = node_packages() / "@modelcontextprotocol" / f"server-{name}"
    return [str(NODE), str(package / "dist" / "index.js")]
