"""`manage.py client_config`: what it prints is taken as it is and really connects."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from tests.client_envs import client_python
from tests.controlplane.alone import Alone, alone, process
from tests.controlplane.stack import empty_stack
from tests.processes import wait_until

TRANSPORTS = ("streamable_http", "sse", "stdio")


@pytest.fixture(scope="module")
def made() -> Iterator[Alone]:
    """A folder whose web process runs and requires keys."""
    with alone(SECURITY__API_KEYS_ENABLED="true") as folder, process(folder, "serve"):
        wait_until(lambda: folder.get("/tools")[0] == 401, 60, "the first answer")
        yield folder


def printed(made: Alone, *arguments: str) -> str:
    done = made.manage("client_config", *arguments)
    assert done.returncode == 0, done.stderr
    assert made.key not in done.stdout + done.stderr
    return done.stdout


def expanded(value: Any, variables: Mapping[str, str]) -> Any:
    """`value` with its references filled in, as the clients do it."""
    if isinstance(value, dict):
        return {key: expanded(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [expanded(item, variables) for item in value]
    if isinstance(value, str):
        return re.sub(
            r"\$\{(?:env:|input:)?([^}:]+)(?::-)?\}", lambda found: variables[found[1]], value
        )
    return value


async def names(entry: Mapping[str, Any]) -> list[str]:
    """The tools that a client sees which was given `entry`."""
    headers = entry.get("headers", {})
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        target: Any
        if "command" in entry:
            target = StdioServerParameters(
                command=entry["command"], args=entry["args"], env=entry.get("env")
            )
        elif entry.get("type") == "sse" or "/sse" in entry["url"]:
            target = sse_client(entry["url"], headers=headers)
        else:
            target = streamable_http_client(entry["url"], http_client=http)
        async with Client(target, mode="legacy") as client:
            return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", ["claude-code", "cursor", "vscode"])
async def test_printed_entry_connects(made: Alone, client: str, transport: str) -> None:
    text = printed(
        made, client, "--transport", transport, "--toolset", "mine", "--key-variable", "AGENT_KEY"
    )
    document = json.loads(text)
    entry = document["servers" if client == "vscode" else "mcpServers"]["mine"]
    variables = {"AGENT_KEY": made.key, "control-plane-key": made.key}
    assert await names(expanded(entry, variables)) == ["echo"]


async def test_claude_desktop_starts_what_is_printed(made: Alone) -> None:
    document = json.loads(printed(made, "claude-desktop"))
    # No key: the client starts the process, so it is the operator's.
    assert await names(document["mcpServers"]["mcp-control-plane"]) == ["echo", "slow"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", ["langchain", "openai-agents"])
def test_printed_program_runs(made: Alone, client: str, transport: str) -> None:
    program = printed(made, client, "--transport", transport, "--key-variable", "AGENT_KEY")
    done = subprocess.run(
        [client_python(client), "-c", program],
        env={"PATH": os.environ["PATH"], "AGENT_KEY": made.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "['echo']" in done.stdout


def test_printed_requests_are_answered(made: Alone) -> None:
    requests = printed(made, "rest", "--key-variable", "AGENT_KEY").replace("TOOL_NAME", "echo")
    done = subprocess.run(
        ["/bin/sh", "-c", requests],
        env={"PATH": os.environ["PATH"], "AGENT_KEY": made.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    decoder = json.JSONDecoder()
    listed, end = decoder.raw_decode(done.stdout)
    called, _ = decoder.raw_decode(done.stdout[end:].lstrip())
    assert [tool["name"] for tool in listed["tools"]] == ["echo"]
    assert called["success"] is True


def test_key_variable_is_named_only_where_keys_are_required(made: Alone) -> None:
    assert "${CONTROL_PLANE_KEY:-}" in printed(made, "claude-code")
    without = made.manage("client_config", "claude-code", SECURITY__API_KEYS_ENABLED="false")
    assert "Authorization" not in without.stdout


def test_text_alone_is_printed_and_the_rest_is_told(made: Alone) -> None:
    done = made.manage("client_config", "claude-code", "--url", "https://tools.example.com")
    found = json.loads(done.stdout)["mcpServers"]["mcp-control-plane"]
    assert found["url"] == "https://tools.example.com/mcp"
    assert ".mcp.json" in done.stderr
    assert "Or run: claude mcp add " in done.stderr
    assert "Set CONTROL_PLANE_KEY" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--toolset", "none-such"), "There is no toolset 'none-such'. Known: mine"),
        (("--url", "tools.example.com"), "--url must be such as"),
        (("--key-variable", "cp_secret-key!"), "--key-variable must be the name of a variable"),
        (("--transport", "sse"), "chat has no transports to choose from"),
    ],
)
def test_what_cannot_be_used_is_refused(
    made: Alone, arguments: tuple[str, ...], reason: str
) -> None:
    client = "chat" if "--transport" in arguments else "cursor"
    refused = made.manage("client_config", client, *arguments)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert reason in refused.stderr


def test_missing_database_is_said_plainly() -> None:
    with empty_stack() as empty:
        refused = empty.manage("client_config", "cursor")
    assert refused.returncode == 1
    assert "manage.py up" in refused.stderr
    assert "Traceback" not in refused.stderr
