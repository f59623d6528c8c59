"""How one tool is called, as texts to paste: with curl, from Python, over MCP.

Values are quoted for where they are pasted. Keys are read from the environment, but for one that has
just been made and is shown this once.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

PROTOCOL: Final = "2026-07-28"
_MCP_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": PROTOCOL,
    "Mcp-Method": "tools/call",
}


@dataclass(frozen=True, slots=True)
class Called:
    """What is called, where, and under which variable the key is; none where none is needed.

    A `key` stands in the text itself.
    """

    tool: str
    arguments: Mapping[str, Any]
    base_url: str
    key_variable: str = ""
    key: str = field(default="", repr=False)

    @property
    def body(self) -> dict[str, Any]:
        return {"tool": self.tool, "arguments": dict(self.arguments)}


def with_curl(call: Called) -> str:
    """POST /call-tool, for a shell."""
    return _curl(call, "/call-tool", {"Content-Type": "application/json"}, call.body)


def over_mcp(call: Called) -> str:
    """One request of the protocol, for a shell; agents send the same."""
    about = {
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": call.tool, "arguments": dict(call.arguments), "_meta": about}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return _curl(call, "/mcp", {**_MCP_HEADERS, "Mcp-Name": call.tool}, message)


def from_python(call: Called) -> str:
    """The same without any package."""
    headers = ['"Content-Type": "application/json"']
    if call.key_variable:
        headers.append(f'"X-API-Key": os.environ["{call.key_variable}"]')
    imports = ["json", *(["os"] if call.key_variable else []), "urllib.request"]
    return "\n".join(
        [
            *(f"import {name}" for name in imports),
            "",
            "request = urllib.request.Request(",
            f"    {call.base_url + '/call-tool'!r},",
            f"    data=json.dumps({call.body!r}).encode(),",
            f"    headers={{{', '.join(headers)}}},",
            ")",
            "with urllib.request.urlopen(request) as answer:",
            '    print(json.load(answer)["data"])',
        ]
    )


def _curl(call: Called, path: str, headers: Mapping[str, str], body: Any) -> str:
    lines = [f"curl -s {shlex.quote(call.base_url + path)}"]
    lines += [f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if call.key:
        lines.append(f"  -H {shlex.quote(f'X-API-Key: {call.key}')}")
    elif call.key_variable:
        lines.append(f'  -H "X-API-Key: ${call.key_variable}"')
    lines.append(f"  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}")
    return " \\\n".join(lines)
