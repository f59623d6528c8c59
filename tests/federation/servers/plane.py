"""A control plane of real processes with servers behind it, and the ways in."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import redis
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.controlplane.stack import Stack
from tests.federation.servers.answers import Answer, of_error, of_result, settled
from tests.federation.servers.scripts import Call
from tests.processes import wait_until
from tests.tools.mcp_server.clients import Way, user_of
from tools.upstreams.states import STATE_KEY

FIELDS: Final = (
    *("name", "title", "description", "input_schema", "output_schema", "tags", "metadata"),
    *("read_only", "destructive", "idempotent", "timeout_seconds", "remote_name"),
)
ROWS: Final = """
import json
from tools.models import UpstreamServer
for values in json.loads({rows!r}):
    environment = values.pop("environment", {{}})
    row = UpstreamServer(**values)
    row.set_environment(environment)
    row.save()
"""
CHANGE: Final = """
from tools.models import UpstreamServer
row = UpstreamServer.objects.get(slug={slug!r})
for name, value in {changes!r}.items():
    setattr(row, name, value)
row.save()
"""
TOOLS: Final = f"""
SELECT {", ".join(f"tool.{name}" for name in FIELDS)} FROM tools_tool AS tool
JOIN tools_upstreamitem AS item ON item.tool_id = tool.id
JOIN tools_upstreamserver AS server ON server.id = item.server_id
WHERE server.slug = ? ORDER BY tool.name
"""  # noqa: S608 - the names are ours
_JSON: Final = frozenset({"input_schema", "output_schema", "tags", "metadata"})
MCP_WAYS: Final = (Way("streamable_http", "auto"), Way("streamable_http", "legacy"))
# The era in which a server may ask in the middle of a call.
ASKED_WAYS: Final = tuple(
    Way(transport, "legacy") for transport in ("streamable_http", "sse", "websocket")
)


@dataclass
class Plane:
    """A running control plane."""

    stack: Stack

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.stack.port}"

    def shell(self, code: str) -> None:
        """Run Python in its folder."""
        done = self.stack.manage("shell", "--no-imports", "-c", code)
        assert done.returncode == 0, done.stderr

    def registry(self, slug: str) -> list[dict[str, Any]]:
        """The tools of a server as the catalogue has them."""
        with sqlite3.connect(self.stack.folder / "controlplane.sqlite3", timeout=10) as database:
            database.row_factory = sqlite3.Row
            return [_read(row) for row in database.execute(TOOLS, [slug])]

    def discovery(self, slug: str) -> dict[str, Any]:
        """What the last discovery of a server that said something new came to."""
        with sqlite3.connect(self.stack.folder / "controlplane.sqlite3", timeout=10) as database:
            statement = "SELECT last_discovery FROM tools_upstreamserver WHERE slug = ?"
            ((written,),) = database.execute(statement, [slug]).fetchall()
        summary: dict[str, Any] = json.loads(written)
        return summary

    def names(self, slug: str) -> dict[str, str]:
        """The names of its tools here, by its own."""
        return {row["remote_name"]: row["name"] for row in self.registry(slug)}

    def connections(self, slug: str) -> list[dict[str, Any]]:
        """What each process tells of its connection to a server."""
        with redis.Redis.from_url(self.stack.paths.redis_url) as client:
            told = client.hgetall(STATE_KEY.format(slug=slug))
        return [json.loads(one) for one in dict(told).values()]

    def connected(self, slug: str) -> dict[str, Any]:
        """The one connection to a server, once it is there."""
        wait_until(
            lambda: any(one["connection_state"] == "connected" for one in self.connections(slug)),
            what=f"a connection to {slug}",
        )
        (connection,) = self.connections(slug)
        return connection

    def add(self, *rows: Mapping[str, Any]) -> None:
        """Register servers, and wait until all their tools are served."""
        self.shell(ROWS.format(rows=json.dumps(rows)))
        for row in rows:
            found = set(filter(None, self.connected(row["slug"])["discovered_tools"]))
            wait_until(partial(self._serves, row["slug"], found), what=f"tools of {row['slug']}")

    def reach(self, slug: str, **columns: Any) -> None:
        """Change how a server is reached, and wait until it is reached that way."""
        before = self.connected(slug)["since"]
        changes = {"allowed_networks": ["127.0.0.0/8"], **columns}
        self.shell(CHANGE.format(slug=slug, changes=changes))
        wait_until(
            lambda: any(
                (one["transport_type"], one["lifecycle"]) == (columns["transport"], "connected")
                and one["since"] != before
                for one in self.connections(slug)
            ),
            what=f"{slug} over {columns['transport']}",
        )

    def _serves(self, slug: str, found: set[str]) -> bool:
        names = self.names(slug)
        return set(names) == found and set(names.values()) <= set(self.offered())

    def offered(self) -> dict[str, dict[str, Any]]:
        """What `GET /tools` lists, by name."""
        status, body = self.stack.get("/tools")
        assert status == 200, body
        return {tool["name"]: tool for tool in body["tools"]}

    def over_mcp(self, slug: str, way: Way, calls: Sequence[Call], folder: Path) -> list[Answer]:
        """What a client of MCP is answered, one call after the other."""
        names = self.names(slug)
        with user_of(self.url, way) as user:
            return [
                user.run(partial(ask, user.client, names[tool], arguments, tool, folder))
                for tool, arguments in calls
            ]

    def over_rest(self, slug: str, calls: Sequence[Call], folder: Path) -> list[tuple[int, Any]]:
        """The statuses and bodies of the same over REST."""
        names = self.names(slug)
        found = [self.stack.call(names[tool], **arguments) for tool, arguments in calls]
        return [
            (status, settled(tool if status == 200 else "", body, folder))
            for (tool, _), (status, body) in zip(calls, found, strict=True)
        ]


def _read(row: sqlite3.Row) -> dict[str, Any]:
    kept = dict(row)
    written = {name for name in _JSON if kept[name] is not None}
    return {name: json.loads(kept[name]) if name in written else kept[name] for name in kept}


async def ask(
    client: Client, name: str, arguments: Mapping[str, Any], tool: str, folder: Path
) -> Answer:
    """One call; a request that is declined is an answer too."""
    try:
        return of_result(tool, await client.call_tool(name, dict(arguments)), folder)
    except MCPError as fault:
        return of_error(fault)


def directly(server: Any, calls: Sequence[Call], folder: Path, **options: Any) -> list[Answer]:
    """What the server itself answers to the SDK's client, without us in between."""

    async def work() -> list[Answer]:
        async with Client(server, **options) as client:
            return [await ask(client, tool, given, tool, folder) for tool, given in calls]

    return asyncio.run(work())
