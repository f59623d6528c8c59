"""What Claude Code and Cursor make of their files, by the rules that their documentation gives.

Claude Code (code.claude.com/docs/en/mcp): `type` names the transport; `${VAR}` and `${VAR:-default}` are expanded in
`command`, `args`, `env`, `url` and `headers`; a variable that is neither set nor has a default is a fault. Cursor
(cursor.com/docs/mcp): an entry with a `url` is a server elsewhere, and needs no `type`; `${env:NAME}` is expanded
in the same fields, and nothing is said of a default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Expansion = Callable[[str, Mapping[str, str]], str]
# What an entry that is reached over HTTP may have.
FIELDS: Final = {"claude-code": {"type", "url", "headers"}, "cursor": {"url", "headers"}}
TYPES: Final[Mapping[str, set[str | None]]] = {"claude-code": {"http", "sse"}, "cursor": {None}}
# Where variables are expanded in such an entry.
_EXPANDED: Final = ("url", "headers")
_CLAUDE_CODE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_CURSOR: Final = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


class Refused(Exception):
    """The client would not take the file. The message says why."""


def server(client: str, document: Any, environment: Mapping[str, str]) -> dict[str, Any]:
    """The one server of a file, as the client has it once variables are expanded.

    Raises:
        Refused: the file is not as the client documents it.
    """
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict) or set(document) != {"mcpServers"} or len(servers) != 1:
        raise Refused("one server below mcpServers is wanted")
    ((name, entry),) = servers.items()
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise Refused(f"{name} is no name of a server")
    if not set(entry) <= FIELDS[client] or entry.get("type") not in TYPES[client]:
        raise Refused(f"{entry} is no entry of a server that is reached over HTTP")
    expanded = {
        key: _expanded(value, _EXPANSIONS[client], environment) if key in _EXPANDED else value
        for key, value in entry.items()
    }
    if "${" in str(expanded):
        raise Refused(f"{client} leaves a variable as it is")
    return expanded


def _expanded(value: Any, expand: Expansion, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _expanded(one, expand, environment) for key, one in value.items()}
    if not isinstance(value, str):
        raise Refused(f"{value!r} is no text")
    return expand(value, environment)


def _claude_code(text: str, environment: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name, default = found.groups()
        if name not in environment and default is None:
            raise Refused(f"{name} is not set and has no default")
        return environment.get(name, default or "")

    return _CLAUDE_CODE.sub(value, text)


def _cursor(text: str, environment: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise Refused(f"{found[1]} is not set")
        return environment[found[1]]

    return _CURSOR.sub(value, text)


_EXPANSIONS: Final[Mapping[str, Expansion]] = {"claude-code": _claude_code, "cursor": _cursor}
