"""The whole control plane with one scriptable server behind it: real doors, a real process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.mcp_upstream import HttpUpstream, http_upstream
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS
from tests.upstream_rows import make_upstream
from tools.backends.builtin import BUILTINS
from tools.backends.upstream.probing import probe
from tools.execution.runtime import current
from tools.models import UpstreamServer
from tools.selectors import catalogue_version
from tools.services.sync_upstream import record_discovery

LOOPBACK: Final = ["127.0.0.0/8"]
# Streamable HTTP in both eras, and one connection that stays open.
SOME_WAYS: Final = tuple(
    way for way in WAYS if way.transport == "streamable_http" or str(way) == "sse-legacy"
)
READ_RESULT: Final = {
    "description": BUILTINS["read_result"].description,
    "input_schema": dict(BUILTINS["read_result"].input_schema),
}
every_era = pytest.mark.parametrize("era", ["modern", "handshake"])


@dataclass
class Plane:
    """The doors, the server behind them, and its row."""

    door: RestDoor
    upstream: HttpUpstream
    row: UpstreamServer

    @property
    def url(self) -> str:
        return self.door.url

    def rest(self, tool: str, arguments: Any = None, **options: Any) -> dict[str, Any]:
        """The body of the answer of `POST /call-tool`."""
        answer: dict[str, Any] = self.door.call(tool, arguments, **options).json()
        return answer

    def tools(self) -> set[str]:
        """What `GET /tools` lists."""
        return {tool["name"] for tool in self.door.get("/tools").json()["tools"]}

    def settle(self) -> None:
        """Wait until what was changed in the database is served."""
        wait_until(
            lambda: current().directory.catalogue.version == catalogue_version(),
            what="the catalogue as it is now",
        )

    def change(self, **switches: Any) -> None:
        """Make the server offer something else, and say so to whoever listens to it."""
        self.upstream.set(**switches)
        assert self.rest("change", {"tool": "nothing"})["success"]


def register(upstream: HttpUpstream, **columns: Any) -> UpstreamServer:
    """A row for `upstream` with everything it offers, found as an operator's refresh finds it."""
    values = {"slug": "trial", "url": upstream.url, "allowed_networks": LOOPBACK, **columns}
    row = make_upstream(**values)
    record_discovery(row.slug, asyncio.run(probe(row.to_value())))
    row.refresh_from_db()
    return row


def register_stdio() -> UpstreamServer:
    """A row for the allowed command `trial`, with everything that program offers."""
    row = make_upstream(slug="trial", transport="stdio", command="trial", url="", call_timeout=30)
    record_discovery(row.slug, asyncio.run(probe(row.to_value())))
    return row


@contextmanager
def plane(
    door: RestDoor, folder: Path, era: str = "both", *, switches: Any = None, **columns: Any
) -> Iterator[Plane]:
    """A server of that era, whose row has `columns`, behind open doors."""
    with http_upstream(folder / "upstream", era=era, **(switches or {})) as upstream:
        make_tool(name="read_result", source="builtin", handler="read_result", **READ_RESULT)
        row = register(upstream, **columns)
        door.start()
        yield Plane(door, upstream, row)
