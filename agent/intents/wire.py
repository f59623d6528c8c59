"""What the evaluation needs of a control plane: its tools, and its search for tools, over MCP.

The stateless version of the protocol is one POST per question, so the standard library is enough.
"""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.router import Offered

PROTOCOL: Final = "2026-07-28"
SEARCH_TOOL: Final = "tool_search"
MOST_FOUND: Final = 5


class WireFault(Exception):
    """The control plane did not answer as it should."""


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A control plane at the address of its MCP door."""

    url: str
    key: str = ""
    seconds: float = 30.0

    def tools(self) -> list[Offered]:
        """All tools it lists, page by page."""
        found: list[Offered] = []
        cursor: str | None = None
        while True:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})
            found += [_offered(tool) for tool in page["tools"]]
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    async def search(self, message: str) -> Sequence[str]:
        """The names of tools that fit a message, best first."""
        arguments = {"query": message, "limit": MOST_FOUND}
        params = {"name": SEARCH_TOOL, "arguments": arguments}
        result = await asyncio.to_thread(self.ask, "tools/call", params)
        if result.get("isError"):
            raise WireFault(f"{SEARCH_TOOL}: {json.dumps(result.get('content'))}")
        return [tool["name"] for tool in result["structuredContent"]["tools"]]

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """One question and its answer."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": method,
            **({"Mcp-Name": params["name"]} if "name" in params else {}),
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        }
        try:
            answer = json.loads(_posted(self.url, body, headers, self.seconds))
        except (ValueError, RecursionError) as fault:
            raise WireFault(f"{method}: an answer that is no JSON") from fault
        if "result" not in answer:
            raise WireFault(f"{method}: {answer.get('error')}")
        result: dict[str, Any] = answer["result"]
        return result


def _offered(tool: Mapping[str, Any]) -> Offered:
    hints = tool.get("annotations") or {}
    return Offered(
        tool["name"],
        tool.get("description", ""),
        tool["inputSchema"],
        read_only=hints.get("readOnlyHint") is True,
        destructive=hints.get("destructiveHint") is True,
    )


def _posted(url: str, body: Mapping[str, Any], headers: Mapping[str, str], seconds: float) -> str:
    """The JSON of an answer, which may come alone or as the last event of a stream."""
    if not url.startswith(("http://", "https://")):
        raise WireFault(f"{url} is no http or https address")
    request = urllib.request.Request(url, json.dumps(body).encode(), dict(headers))  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310 - checked above
            text: str = response.read().decode()
    except urllib.error.HTTPError as fault:
        fault.close()
        raise WireFault(f"{url}: {fault}") from fault
    except OSError as fault:
        raise WireFault(f"{url}: {fault}") from fault
    events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return events[-1] if events else text
