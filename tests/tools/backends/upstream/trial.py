"""A scriptable server, and the backend that calls its tools."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.mcp_upstream import Record, http_upstream, stdio_entry
from tools.backends.upstream.backend import UpstreamBackend
from tools.backends.upstream.connection import Connection
from tools.backends.upstream.probing import probe
from tools.contracts import CallContext, Caller, CallerKind, Deadline, ToolSource, ToolSpec
from tools.upstreams import Kind, Upstream, UpstreamTransport, fingerprint

CALLER = Caller(CallerKind.LOCAL, "local:test", "test", rate_per_minute=1000)
LOOPBACK = ("127.0.0.0/8",)
ANY = {"type": "object", "properties": {}}


@contextmanager
def server(folder: Path, transport: str, **switches: Any) -> Iterator[tuple[Upstream, Any]]:
    """A server over `transport` as the catalogue would know it, and the hand on its switches."""
    folder.mkdir(exist_ok=True)
    if transport == "stdio":
        commands = settings.CONTROL_PLANE["UPSTREAM_COMMANDS"]
        commands["trial"] = stdio_entry(folder)
        Record(folder).set(**switches)
        try:
            yield Upstream("trial", UpstreamTransport.STDIO, command="trial"), Record(folder)
        finally:
            del commands["trial"]
        return
    with http_upstream(folder, **switches) as hand:
        yield (
            Upstream(
                "trial",
                UpstreamTransport.STREAMABLE_HTTP,
                url=hand.url,
                allowed_networks=LOOPBACK,
            ),
            hand,
        )


@dataclass
class Trial:
    """Calls through one backend, with everything approved as it is offered at the beginning."""

    upstream: Upstream
    tools: Mapping[str, Mapping[str, Any]]
    backend: UpstreamBackend = field(default_factory=UpstreamBackend)

    @property
    def connection(self) -> Connection:
        return self.backend.manager().connection(self.upstream)

    def spec(self, name: str) -> ToolSpec:
        tool = self.tools[name]
        hints = tool.get("annotations") or {}
        binding = {
            "server": self.upstream,
            "remote_name": name,
            "fingerprint": fingerprint(Kind.TOOL, tool),
        }
        return ToolSpec(
            name,
            "A tool.",
            ANY,
            ToolSource.UPSTREAM,
            name,
            binding=binding,
            read_only=bool(hints.get("readOnlyHint")),
            idempotent=bool(hints.get("idempotentHint")),
        )

    async def call(self, name: str, *, seconds: float = 10, **arguments: Any) -> Any:
        return await self.call_with({}, name, seconds=seconds, **arguments)

    async def call_with(
        self, about: Mapping[str, Any], name: str, *, seconds: float = 10, **arguments: Any
    ) -> Any:
        """One call whose context has `about` in it."""
        context = CallContext(CALLER, Deadline.after(seconds), **about)
        async with asyncio.timeout(seconds):
            return (await self.backend.call(self.spec(name), arguments, context)).data


@asynccontextmanager
async def trial(upstream: Upstream) -> AsyncIterator[Trial]:
    """A backend of its own, closed afterwards."""
    found = await probe(upstream)
    made = Trial(upstream, {tool["name"]: tool for tool in found.tools})
    try:
        yield made
    finally:
        await made.backend.manager().close()


@asynccontextmanager
async def connection_to(upstream: Upstream) -> AsyncIterator[Connection]:
    """A connection that nobody looks after, closed afterwards."""
    connection = Connection(upstream)
    try:
        yield connection
    finally:
        await connection.close()


async def eventually(condition: Any, seconds: float = 20) -> None:
    """Wait until `condition()` holds, without blocking the event loop."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


@contextlib.contextmanager
def quick_retries(monkeypatch: Any) -> Iterator[None]:
    """Retries as they are, but for the waiting in between."""
    from tools.backends.upstream import retrying

    monkeypatch.setattr(retrying, "DELAYS", tuple(delay / 1000 for delay in retrying.DELAYS))
    yield
