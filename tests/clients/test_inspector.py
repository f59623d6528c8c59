"""The Inspector's command line: one process per request, over each transport it speaks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients.rows import GUIDE
from tests.clients.visits import Plane
from tests.controlplane.stack import OURS
from tests.node_env import NODE, node_environment, node_packages

FAILED_TOOL = 5
TRANSPORTS = [f"{name} {era}" for name in ("http", "sse", "stdio") for era in ("modern", "legacy")]


class Inspector:
    """Sends single requests to a control plane."""

    def __init__(self, plane: Plane, transport: str, home: Path) -> None:
        name, _, era = transport.partition(" ")
        targets = {
            "http": [f"{plane.url}/mcp"],
            "sse": [f"{plane.url}/sse"],
            # A server it starts gets no more of the environment than it is told.
            "stdio": [*plane.stdio, *_told(plane.stack.environment)],
        }
        program = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        self._command = [
            *(str(NODE), str(node_packages() / program), "--cli", *targets[name]),
            *("--transport", name, "--protocol-era", era, "--format", "json"),
        ]
        # It keeps a list of servers in the home folder.
        self._environment = {**node_environment(), "HOME": str(home)}

    def ask(self, method: str, *options: str, code: int = 0) -> dict[str, Any]:
        done = subprocess.run(
            [*self._command, "--method", method, *options],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return result


def _told(environment: Mapping[str, str]) -> list[str]:
    """The options that hand on what a process of the control plane needs to know."""
    told = sorted({*OURS, "DJANGO_SETTINGS_MODULE", "CONTROL_PLANE_TEST_DIR"} & set(environment))
    return [part for name in told for part in ("-e", f"{name}={environment[name]}")]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_inspector_lists_calls_and_reads(plane: Plane, transport: str, tmp_path: Path) -> None:
    # F0-28 C04
    inspector = Inspector(plane, transport, tmp_path)
    status, body = plane.stack.get("/tools")
    assert status == 200
    tools = inspector.ask("tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools] == sorted(tool["name"] for tool in body["tools"])
    word = json.dumps({"word": "héllo"})
    echo = inspector.ask("tools/call", "--tool-name", "echo", "--tool-args-json", word)
    assert echo["structuredContent"] == {"echo": {"word": "héllo"}}
    read = inspector.ask("resources/read", "--uri", "docs://guide")
    assert read["contents"][0]["text"] == GUIDE
    prompt = inspector.ask("prompts/get", "--prompt-name", "about", "--prompt-args", "topic=sheep")
    assert prompt["messages"][0]["content"]["text"] == "Tell me about sheep."


@pytest.mark.parametrize("transport", ["http modern", "http legacy"])
def test_the_inspector_reports_a_failed_tool(plane: Plane, transport: str, tmp_path: Path) -> None:
    inspector = Inspector(plane, transport, tmp_path)
    fault = json.dumps({"fail": "execution"})
    answer = inspector.ask(
        "tools/call", "--tool-name", "echo", "--tool-args-json", fault, code=FAILED_TOOL
    )
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["code"] == -32000
