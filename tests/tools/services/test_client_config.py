"""What to paste into each client."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.project.pages import PROJECT, fenced, read, section
from tools.contracts import Transport
from tools.services.client_config import CLIENTS, TRANSPORTS, Connection, Launch, usual_transport

LAUNCH = Launch("/venv/bin/python", "/srv/manage.py", {"VAR_DIR": "/srv/state"}, ("DATABASE_URL",))
JSON_CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode")
SHELL_CLIENTS = ("rest", "chat")


def connection(**overrides: Any) -> Connection:
    values = {"service": "mcp-control-plane", "base_url": "https://tools.example.com"}
    return Connection(**{**values, "launch": LAUNCH, **overrides})


def entry(client: str, **overrides: Any) -> dict[str, Any]:
    """The one server in a client's JSON."""
    document = json.loads(CLIENTS[client](connection(**overrides)).text)
    servers = document["servers" if client == "vscode" else "mcpServers"]
    assert len(servers) == 1
    found: dict[str, Any] = next(iter(servers.values()))
    return found


@pytest.mark.parametrize("key_variable", ["", "AGENT_KEY"])
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_every_text_is_complete_and_can_be_parsed(
    client: str, transport: Transport, key_variable: str
) -> None:
    setup = CLIENTS[client](connection(transport=transport, key_variable=key_variable))
    if client in JSON_CLIENTS:
        assert setup.language == "json"
        json.loads(setup.text)
    elif client == "other":
        assert setup.language == "text"
        assert all(re.fullmatch(r"[A-Z][a-z]+: +\S.*", one) for one in setup.text.splitlines())
    elif client in SHELL_CLIENTS:
        assert setup.language == "sh"
        checked = subprocess.run(["/bin/sh", "-n"], input=setup.text, text=True, check=False)
        assert checked.returncode == 0
    else:
        assert setup.language == "python"
        compile(ast.parse(setup.text), client, "exec")
        assert ("import os" in setup.text) is ("os.environ" in setup.text)
    assert setup.text.endswith("\n")
    assert setup.title
    assert setup.place


@pytest.mark.parametrize("client", CLIENTS)
def test_text_without_a_key_says_nothing_about_keys(client: str) -> None:
    setup = CLIENTS[client](connection())
    whole = " ".join((setup.text, setup.command, *setup.notes))
    assert "Authorization" not in whole
    assert "key" not in whole.lower()


def test_address_has_the_door_and_the_toolset() -> None:
    assert connection().url == "https://tools.example.com/mcp"
    assert connection(transport=Transport.SSE).url == "https://tools.example.com/sse"
    assert connection(toolset="reports").url == "https://tools.example.com/mcp/reports"
    below = connection(base_url="https://example.com/tools/mcp/", transport=Transport.SSE)
    assert below.url == "https://example.com/tools/sse"


def test_server_is_named_for_what_it_offers() -> None:
    assert connection().name == "mcp-control-plane"
    assert connection(toolset="reports").name == "reports"
    assert connection(toolset="2-reports").name == "tools-2-reports"


def test_each_client_reads_the_key_its_own_way() -> None:
    written = {
        client: entry(client, key_variable="AGENT_KEY").get("headers", {}).get("Authorization")
        for client in ("claude-code", "cursor", "vscode")
    }
    assert written == {
        "claude-code": "Bearer ${AGENT_KEY:-}",
        "cursor": "Bearer ${env:AGENT_KEY}",
        "vscode": "Bearer ${input:control-plane-key}",
    }
    asked = json.loads(CLIENTS["vscode"](connection(key_variable="AGENT_KEY")).text)["inputs"]
    assert [(one["id"], one["type"], one["password"]) for one in asked] == [
        ("control-plane-key", "promptString", True)
    ]


def test_each_client_names_the_transport_its_own_way() -> None:
    kinds = {
        client: [entry(client, transport=transport).get("type") for transport in TRANSPORTS]
        for client in JSON_CLIENTS
    }
    assert kinds == {
        "claude-code": ["http", "sse", "stdio"],
        "claude-desktop": [None, None, None],
        "cursor": [None, None, "stdio"],
        "vscode": ["http", "sse", "stdio"],
    }


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_stdio_entry_starts_this_installation(client: str) -> None:
    found = entry(client, transport=Transport.STDIO, toolset="reports", key_variable="AGENT_KEY")
    assert found["command"] == "/venv/bin/python"
    assert found["args"] == ["/srv/manage.py", "mcp_stdio", "--toolset", "reports"]
    assert found["env"]["VAR_DIR"] == "/srv/state"
    assert set(found["env"]) == {"VAR_DIR", "DATABASE_URL", "CONTROL_PLANE_KEY"}


def test_claude_desktop_is_started_by_default_and_bridged_on_request() -> None:
    assert usual_transport("claude-desktop") is Transport.STDIO
    assert {usual_transport(client) for client in CLIENTS if client != "claude-desktop"} == {
        Transport.STREAMABLE_HTTP
    }
    bridged = entry("claude-desktop", base_url="http://10.0.0.1:8000", key_variable="K")
    assert bridged["args"][:3] == ["-y", "mcp-remote", "http://10.0.0.1:8000/mcp"]
    assert "--allow-http" in bridged["args"]
    assert "--allow-http" not in entry("claude-desktop")["args"]
    assert bridged["env"] == {"AUTH_HEADER": "Bearer paste-your-key-here"}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_claude_codes_command_says_the_same_as_its_file(transport: Transport) -> None:
    given = connection(transport=transport, key_variable="AGENT_KEY", toolset="reports")
    words = shlex.split(CLIENTS["claude-code"](given).command)
    written = entry("claude-code", transport=transport, key_variable="AGENT_KEY", toolset="reports")
    assert words[:3] == ["claude", "mcp", "add"]
    assert words[words.index("--transport") + 1] == written["type"]
    # The name follows an option that takes one value, never --env or --header.
    assert words[words.index("reports") - 2] == "--transport"
    if transport is Transport.STDIO:
        assert words[words.index("--") + 1 :] == [written["command"], *written["args"]]
        assert {f"{name}={value}" for name, value in written["env"].items()} <= set(words)
    else:
        assert words[words.index("reports") + 1] == written["url"]
        assert words[-2:] == ["--header", f"Authorization: {written['headers']['Authorization']}"]


def lines(client: str, **overrides: Any) -> list[str]:
    return CLIENTS[client](connection(**overrides)).text.splitlines()


def test_other_clients_are_told_the_name_the_address_the_transport_and_the_header() -> None:
    assert lines("other", toolset="reports", key_variable="AGENT_KEY") == [
        "Name:         reports",
        "Transport:    Streamable HTTP",
        "Address:      https://tools.example.com/mcp/reports",
        "Header:       Authorization: Bearer paste-your-key-here",
    ]
    assert lines("other", transport=Transport.SSE)[1:] == [
        "Transport:    HTTP + SSE",
        "Address:      https://tools.example.com/sse",
    ]
    assert lines("other", transport=Transport.STDIO, key_variable="AGENT_KEY")[1:] == [
        "Transport:    stdio",
        "Command:      /venv/bin/python",
        "Argument:     /srv/manage.py",
        "Argument:     mcp_stdio",
        "Environment:  VAR_DIR=/srv/state",
        "Environment:  DATABASE_URL=paste-its-value-here",
        "Environment:  CONTROL_PLANE_KEY=paste-your-key-here",
    ]


def test_rest_lists_the_tools_and_calls_one_at_the_address_of_the_service() -> None:
    whole = CLIENTS["rest"](connection(base_url="https://example.com/at/mcp", key_variable="K"))
    listed, called = whole.text.split("\n\n")
    assert listed == 'curl -s https://example.com/at/tools -H "X-API-Key: $K"'
    words = shlex.split(called)
    assert words[:3] == ["curl", "-s", "https://example.com/at/call-tool"]
    assert json.loads(words[-1]) == {"tool": "TOOL_NAME", "arguments": {}}
    assert "X-API-Key: $K" in words
    of_reports = CLIENTS["rest"](connection(toolset="reports")).notes
    assert "REST has no address for one toolset, so reports is not alone." in of_reports


def test_the_chat_is_given_the_address_and_a_key_of_its_own_variable() -> None:
    assert lines("chat") == ["MCP_URL=https://tools.example.com/mcp make chat"]
    assert lines("chat", toolset="reports", key_variable="AGENT_KEY") == [
        'MCP_URL=https://tools.example.com/mcp/reports MCP_API_KEY="$AGENT_KEY" make chat'
    ]


def test_launch_passes_settings_on_and_names_what_may_be_secret(tmp_path: Path) -> None:
    environ = {
        "VAR_DIR": f"{tmp_path}/a/../state",
        "DATABASE_URL": "postgres://user:password@host/name",
        "REDIS_URL": " ",
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "HOME": "/root",
    }
    launch = Launch.here("/venv/bin/python", tmp_path, environ)
    assert launch == Launch(
        python="/venv/bin/python",
        manage=str(tmp_path / "manage.py"),
        settings={"VAR_DIR": f"{tmp_path}/state"},
        inherited=("DATABASE_URL",),
    )
    for client in CLIENTS:
        setup = CLIENTS[client](connection(transport=Transport.STDIO, launch=launch))
        assert "password@" not in setup.text + setup.command


SECTIONS = {
    "claude-code": "## Claude Code",
    "claude-desktop": "## Claude Desktop",
    "cursor": "## Cursor",
    "vscode": "## VS Code",
    "langchain": "## LangChain",
    "openai-agents": "## OpenAI Agents SDK",
    "other": "## Any other MCP client",
    "rest": "## REST",
    "chat": "## This project's chat",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_how_to_shows_what_is_printed(client: str) -> None:
    page = section(read(PROJECT / "docs" / "how-to" / "connect-agents.md"), SECTIONS[client])
    setup = CLIENTS[client](connection(toolset="reports", key_variable="CONTROL_PLANE_KEY"))
    assert fenced(page, setup.language) == [setup.text]
    if setup.command:
        assert re.search(rf"^    {re.escape(setup.command)}$", page, re.MULTILINE)
