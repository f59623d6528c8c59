"""The agent's programs as processes, and a client for what it serves."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.client_envs import client_python

PROJECT: Final = Path(__file__).resolve().parents[2]
OURS: Final = ("MCP_", "MODEL", "OPENAI_", "LANGSMITH_")
SECONDS: Final = 60
LOAD: Final = """
import json, sys, time
from agent.chat_agent import ChatAgent
from agent.settings import Settings

began = time.monotonic()
agent = ChatAgent(Settings(mcp_url=sys.argv[1]))
seconds = time.monotonic() - began
print(json.dumps([[tool.name for tool in agent.tools], seconds]))
"""


def environment(**variables: str) -> dict[str, str]:
    """This process's, without what would configure an agent, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, **variables}


@dataclass(frozen=True)
class Answered:
    """One answer of the surface: its status, and its events or its body."""

    status: int
    body: str

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """The names of the events with their data, in order."""
        found = []
        for block in self.body.replace("\r\n", "\n").split("\n\n"):
            lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
            if lines:
                found.append((lines["event"], json.loads(lines["data"])))
        return found

    def named(self, kind: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == kind]

    @property
    def done(self) -> dict[str, Any]:
        """What ended the stream."""
        name, data = self.events[-1]
        assert name == "DONE"
        return data


@dataclass(frozen=True)
class Chat:
    """A running `python -m agent.serve`."""

    process: subprocess.Popen[str]
    host: str
    port: int
    said: str
    # What it said after that, once it has ended.
    said_later: list[str] = field(default_factory=list)

    def say(self, message: str, **more: Any) -> Answered:
        return self.post({"message": message, **more})

    def post(self, body: Any, **headers: str) -> Answered:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", "/chat/stream", payload, headers)

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        try:
            given = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, body, given)
            response = connection.getresponse()
            return Answered(response.status, response.read().decode())
        finally:
            connection.close()

    @contextmanager
    def streamed(self, message: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
        """The events of a turn, each as soon as it is there."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        try:
            body = json.dumps({"message": message})
            connection.request("POST", "/chat/stream", body, {"Content-Type": "application/json"})
            yield _events(connection.getresponse())
        finally:
            connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    while line := response.readline().decode():
        key, _, value = line.strip().partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


@contextmanager
def chat(**variables: str) -> Iterator[Chat]:
    """The surface at a port that the system chose; told to stop afterwards."""
    process = subprocess.Popen(
        [str(client_python("langchain")), "-m", "agent.serve", "--port", "0"],
        cwd=PROJECT,
        env=environment(**variables),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    later: list[str] = []
    try:
        while "/chat/stream" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        address = said.split()[-1].removeprefix("http://").removesuffix("/chat/stream")
        host, _, port = address.partition(":")
        yield Chat(process, host, int(port), said, later)
    finally:
        process.terminate()
        later.append(process.communicate(timeout=20)[1])


def terminal(lines: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A chat in a terminal in which these lines were typed."""
    return subprocess.run(
        [str(client_python("langchain")), "-m", "agent"],
        cwd=PROJECT,
        env=environment(**variables),
        input=lines,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def loaded(mcp_url: str) -> tuple[list[str], float]:
    """The tools of an agent that was made just now, and how many seconds that took."""
    done = subprocess.run(
        [str(client_python("langchain")), "-c", LOAD, mcp_url],
        cwd=PROJECT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    tools, seconds = json.loads(done.stdout)
    return tools, seconds
