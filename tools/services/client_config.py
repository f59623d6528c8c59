"""What to paste into a client so that it uses this service: one pure function per client.

Keys never appear. Where a client can read one from its environment or ask for it, the text says so;
where it cannot, a placeholder stands in its place.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tools.contracts import Transport
from tools.services.call_examples import Called, with_curl

KEY_VARIABLE: Final = "CONTROL_PLANE_KEY"
PLACEHOLDER: Final = "paste-your-key-here"
TRANSPORTS: Final = (Transport.STREAMABLE_HTTP, Transport.SSE, Transport.STDIO)
DOORS: Final = {Transport.STREAMABLE_HTTP: "/mcp", Transport.SSE: "/sse"}
KINDS: Final = {
    Transport.STREAMABLE_HTTP: "http",
    Transport.SSE: "sse",
    Transport.STDIO: "stdio",
}
KEY_INPUT: Final = "control-plane-key"
PASSED_ON: Final = ("VAR_DIR", "SERVICE__NAME", "DJANGO_SETTINGS_MODULE")
INHERITED: Final = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL")
USUAL_SETTINGS: Final = "controlplane.settings"


@dataclass(frozen=True, slots=True)
class Launch:
    """How a client on this machine starts `mcp_stdio`.

    `settings` are passed on as they are. `inherited` names variables whose values may hold secrets:
    the client takes them from its own environment.
    """

    python: str = "python"
    manage: str = "manage.py"
    settings: Mapping[str, str] = field(default_factory=dict)
    inherited: tuple[str, ...] = ()

    @classmethod
    def here(cls, python: str, project: Path, environ: Mapping[str, str]) -> Launch:
        """How this installation is started, finding the same state as the process that asks."""
        given = {name: environ[name] for name in PASSED_ON if environ.get(name, "").strip()}
        if "VAR_DIR" in given:
            given["VAR_DIR"] = str(Path(given["VAR_DIR"]).expanduser().resolve())
        if given.get("DJANGO_SETTINGS_MODULE") == USUAL_SETTINGS:
            del given["DJANGO_SETTINGS_MODULE"]
        inherited = tuple(name for name in INHERITED if environ.get(name, "").strip())
        return cls(python, str(project / "manage.py"), given, inherited)

    def arguments(self, toolset: str) -> list[str]:
        return [self.manage, "mcp_stdio", *(["--toolset", toolset] if toolset else [])]


@dataclass(frozen=True, slots=True)
class Connection:
    """What is to be reached, and how. An empty `key_variable` means that no key is needed."""

    service: str
    base_url: str
    transport: Transport = Transport.STREAMABLE_HTTP
    toolset: str = ""
    key_variable: str = ""
    launch: Launch = field(default_factory=Launch)

    @property
    def name(self) -> str:
        """What the client calls the server: short, for it becomes part of the tools' names."""
        if not self.toolset:
            return self.service
        return self.toolset if self.toolset[0].isalpha() else f"tools-{self.toolset}"

    @property
    def base(self) -> str:
        """Where the service is, whichever of its doors was named."""
        base = self.base_url.rstrip("/")
        for ending in DOORS.values():
            base = base.removesuffix(ending)
        return base

    @property
    def url(self) -> str:
        door = DOORS[self.transport]
        return self.base + door + (f"/{self.toolset}" if self.toolset else "")


@dataclass(frozen=True, slots=True)
class Setup:
    """What to paste, where, and what else to know. `command` does the same from a shell."""

    title: str
    place: str
    language: str
    text: str
    notes: tuple[str, ...] = ()
    command: str = ""


def claude_code(connection: Connection) -> Setup:
    """An entry of `.mcp.json`, which reads `${NAME}` from the environment, and `${NAME:-}` also where it is not set."""

    def reference(name: str) -> str:
        # Without a key the service answers that one is missing, or needs none; without a default the file is refused.
        return f"${{{name}:-}}" if name == connection.key_variable else f"${{{name}}}"

    entry = _entry(connection, reference, KINDS)
    return Setup(
        title="Claude Code",
        place=".mcp.json in the project's folder",
        language="json",
        text=_json({"mcpServers": {connection.name: entry}}),
        notes=_exported(connection),
        command=_claude_command(connection, entry),
    )


def claude_desktop(connection: Connection) -> Setup:
    """An entry of `claude_desktop_config.json`: a command, for the file knows no addresses."""
    notes = ["Quit Claude Desktop and start it again."]
    if connection.transport is Transport.STDIO:
        entry = _entry(connection, lambda name: f"paste-the-value-of-{name}-here", {})
        if connection.key_variable:
            entry["env"][KEY_VARIABLE] = PLACEHOLDER
    else:
        arguments = ["-y", "mcp-remote", connection.url]
        if connection.transport is Transport.SSE:
            arguments += ["--transport", "sse-only"]
        if connection.url.startswith("http://"):
            arguments.append("--allow-http")
        entry = {"command": "npx", "args": arguments}
        if connection.key_variable:
            # Blanks inside arguments are lost on Windows, hence the detour.
            arguments += ["--header", "Authorization:${AUTH_HEADER}"]
            entry["env"] = {"AUTH_HEADER": f"Bearer {PLACEHOLDER}"}
        notes.append("Needs Node.js: mcp-remote connects Claude Desktop to the address.")
    if connection.key_variable:
        notes.append(f"The file cannot read variables: write the key in place of {PLACEHOLDER}.")
    return Setup(
        title="Claude Desktop",
        place=(
            "claude_desktop_config.json, in ~/Library/Application Support/Claude (macOS), "
            "%APPDATA%\\Claude (Windows) or ~/.config/Claude (Linux)"
        ),
        language="json",
        text=_json({"mcpServers": {connection.name: entry}}),
        notes=tuple(notes),
    )


def cursor(connection: Connection) -> Setup:
    """An entry of `.cursor/mcp.json`, which reads `${env:NAME}` from the environment."""
    kinds = {Transport.STDIO: "stdio"}
    entry = _entry(connection, lambda name: f"${{env:{name}}}", kinds)
    return Setup(
        title="Cursor",
        place=".cursor/mcp.json in the project's folder, or ~/.cursor/mcp.json for all projects",
        language="json",
        text=_json({"mcpServers": {connection.name: entry}}),
        notes=_exported(connection),
    )


def vscode(connection: Connection) -> Setup:
    """An entry of `.vscode/mcp.json`, which asks for secrets once and keeps them."""

    def reference(name: str) -> str:
        secret = name == connection.key_variable
        return f"${{input:{KEY_INPUT}}}" if secret else f"${{env:{name}}}"

    entry = _entry(connection, reference, KINDS)
    document: dict[str, Any] = {"servers": {connection.name: entry}}
    if connection.key_variable:
        asked = {
            "type": "promptString",
            "id": KEY_INPUT,
            "description": f"API key for {connection.name}",
            "password": True,
        }
        document = {"inputs": [asked], **document}
    return Setup(
        title="VS Code",
        place=".vscode/mcp.json in the workspace",
        language="json",
        text=_json(document),
        notes=("VS Code asks for the key once and stores it.",) if connection.key_variable else (),
    )


def langchain(connection: Connection) -> Setup:
    """A program that loads the tools with `MultiServerMCPClient`."""
    entry = {"transport": connection.transport.value, **_parameters(connection)}
    servers = _python({connection.name: entry}, 1)
    text = f"""\
import asyncio
{_os_import(connection)}
from langchain_mcp_adapters.client import MultiServerMCPClient

client = MultiServerMCPClient(
    {servers}
)


async def main() -> None:
    tools = await client.get_tools()
    print([tool.name for tool in tools])


asyncio.run(main())
"""
    return Setup(
        title="LangChain",
        place="your program",
        language="python",
        text=text,
        notes=("Install it with: pip install langchain-mcp-adapters", *_exported(connection)),
    )


def openai_agents(connection: Connection) -> Setup:
    """A program that gives an agent of the OpenAI Agents SDK the tools."""
    kind = {
        Transport.STREAMABLE_HTTP: "MCPServerStreamableHttp",
        Transport.SSE: "MCPServerSse",
        Transport.STDIO: "MCPServerStdio",
    }[connection.transport]
    parameters = _python(_parameters(connection), 2)
    text = f"""\
import asyncio
{_os_import(connection)}
from agents import Agent
from agents.mcp import {kind}


async def main() -> None:
    async with {kind}(
        name={_python(connection.name, 0)},
        params={parameters},
        client_session_timeout_seconds=60,
    ) as server:
        agent = Agent(name="Assistant", mcp_servers=[server])
        print(agent.name, [tool.name for tool in await server.list_tools()])


asyncio.run(main())
"""
    return Setup(
        title="OpenAI Agents SDK",
        place="your program",
        language="python",
        text=text,
        notes=("Install it with: pip install openai-agents", *_exported(connection)),
    )


def other(connection: Connection) -> Setup:
    """What every client of the protocol asks for, in whichever file or dialogue."""
    notes: tuple[str, ...] = ()
    if connection.transport is Transport.STDIO:
        launch = connection.launch
        arguments = launch.arguments(connection.toolset)
        rows = [("Command", launch.python), *(("Argument", one) for one in arguments)]
        rows += [("Environment", f"{name}={value}") for name, value in launch.settings.items()]
        rows += [("Environment", f"{name}=paste-its-value-here") for name in launch.inherited]
        if connection.key_variable:
            rows.append(("Environment", f"{KEY_VARIABLE}={PLACEHOLDER}"))
    else:
        rows = [("Address", connection.url)]
        if connection.key_variable:
            rows.append(("Header", f"Authorization: Bearer {PLACEHOLDER}"))
    if connection.key_variable:
        notes = (f"Write the key in place of {PLACEHOLDER}, or let the client read it.",)
    words = {Transport.STREAMABLE_HTTP: "Streamable HTTP", Transport.SSE: "HTTP + SSE"}
    transport = words.get(connection.transport, connection.transport.value)
    rows = [("Name", connection.name), ("Transport", transport), *rows]
    return Setup(
        title="Any other MCP client",
        place="the client's own settings, wherever it asks for these",
        language="text",
        text="".join(f"{f'{name}:':<14}{value}\n" for name, value in rows),
        notes=notes,
    )


def rest(connection: Connection) -> Setup:
    """Two requests for programs that speak no MCP."""
    key = connection.key_variable
    call = Called("TOOL_NAME", {}, connection.base, key)
    header = f' -H "X-API-Key: ${key}"' if key else ""
    notes = ["TOOL_NAME is one of the names that the first request lists."]
    if connection.toolset:
        notes.append(f"REST has no address for one toolset, so {connection.toolset} is not alone.")
    return Setup(
        title="REST (curl)",
        place="a shell",
        language="sh",
        text=f"curl -s {shlex.quote(connection.base + '/tools')}{header}\n\n{with_curl(call)}\n",
        notes=(*notes, *_exported(connection)),
    )


def chat(connection: Connection) -> Setup:
    """The agent that comes along with this service."""
    # The only transport that it speaks.
    address = replace(connection, transport=Transport.STREAMABLE_HTTP).url
    words = [f"MCP_URL={shlex.quote(address)}"]
    if connection.key_variable:
        words.append(f'MCP_API_KEY="${connection.key_variable}"')
    return Setup(
        title="This project's chat (make chat)",
        place="a shell, in the folder of this project",
        language="sh",
        text=" ".join([*words, "make chat"]) + "\n",
        notes=("The first time, it installs its packages.", *_exported(connection)),
    )


# These are reached in one way only, so there is no transport to choose.
ONE_WAY: Final = frozenset({"rest", "chat"})
CLIENTS: Final[Mapping[str, Callable[[Connection], Setup]]] = {
    "claude-code": claude_code,
    "claude-desktop": claude_desktop,
    "cursor": cursor,
    "vscode": vscode,
    "langchain": langchain,
    "openai-agents": openai_agents,
    "other": other,
    "rest": rest,
    "chat": chat,
}


def usual_transport(client: str) -> Transport:
    """What a client is best connected by."""
    return Transport.STDIO if client == "claude-desktop" else Transport.STREAMABLE_HTTP


def _entry(
    connection: Connection, reference: Callable[[str], str], kinds: Mapping[Transport, str]
) -> dict[str, Any]:
    """One server as the JSON files have it.

    `reference` writes a variable the client reads; `kinds` are the values of `type`, where it has one.
    """
    kind = kinds.get(connection.transport)
    entry: dict[str, Any] = {"type": kind} if kind else {}
    if connection.transport is Transport.STDIO:
        return {**entry, **_command(connection, reference)}
    entry["url"] = connection.url
    if connection.key_variable:
        entry["headers"] = {"Authorization": f"Bearer {reference(connection.key_variable)}"}
    return entry


def _command(connection: Connection, reference: Callable[[str], Any]) -> dict[str, Any]:
    """How to start `mcp_stdio`, with what it must find in its environment."""
    launch = connection.launch
    environment: dict[str, Any] = {
        **launch.settings,
        **{name: reference(name) for name in launch.inherited},
    }
    if connection.key_variable:
        environment[KEY_VARIABLE] = reference(connection.key_variable)
    command = {"command": launch.python, "args": launch.arguments(connection.toolset)}
    return {**command, "env": environment} if environment else command


def _parameters(connection: Connection) -> dict[str, Any]:
    """One server as Python programs have it."""
    if connection.transport is Transport.STDIO:
        return _command(connection, lambda name: Expression(f'os.environ["{name}"]'))
    parameters: dict[str, Any] = {"url": connection.url}
    if connection.key_variable:
        key = Expression(f"f\"Bearer {{os.environ['{connection.key_variable}']}}\"")
        parameters["headers"] = {"Authorization": key}
    return parameters


class Expression(str):
    """Python that is written as it is, not as a text."""

    __slots__ = ()


def _python(value: Any, depth: int) -> str:
    """`value` as Python source, `depth` levels in."""
    indent, end = "    " * (depth + 1), "    " * depth
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_python(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + "".join(f"{indent}{item},\n" for item in items) + end + "}"
    # JSON's texts and lists of texts are Python's too.
    return json.dumps(value, ensure_ascii=False)


def _os_import(connection: Connection) -> str:
    stdio = connection.transport is Transport.STDIO
    needed = connection.key_variable or (stdio and connection.launch.inherited)
    return "import os\n" if needed else ""


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _exported(connection: Connection) -> tuple[str, ...]:
    """Which variables the client must find in its environment."""
    names = [connection.key_variable] if connection.key_variable else []
    if connection.transport is Transport.STDIO:
        names += connection.launch.inherited
    return (f"Set {' and '.join(names)} before you start it.",) if names else ()


def _claude_command(connection: Connection, entry: Mapping[str, Any]) -> str:
    """The line that writes the same entry into `.mcp.json`."""
    # --env and --header take all that follows them up to the next option, the name too.
    words = ["claude", "mcp", "add"]
    for name, value in entry.get("env", {}).items():
        words += ["--env", f"{name}={value}"]
    words += ["--scope", "project", "--transport", entry["type"], connection.name]
    if "command" in entry:
        words += ["--", entry["command"], *entry["args"]]
    else:
        words.append(entry["url"])
        for name, value in entry.get("headers", {}).items():
            words += ["--header", f"{name}: {value}"]
    return shlex.join(words)
