"""Checks of what tools lean on outside the service: MCP servers, HTTP APIs, models' APIs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from health_check.exceptions import ServiceUnavailable
from typing_extensions import override

from health.checks.base import DependencyCheck
from tools.backends.http_api.reach import Unreachable, reach
from tools.conf import deployment
from tools.contracts import ToolSource
from tools.execution.federation import TROUBLE
from tools.execution.runtime import Runtime
from tools.guards.breaker import Breakers, BreakerState
from tools.guards.redis import RedisDown
from tools.operations import Service
from tools.services.upstream_reports import read_reports
from tools.upstreams import NO_TOOLS, ConnectionState, Upstream, UpstreamTransport

# The APIs of models: what they are called here, and their breakers.
MODELS: Final = {"llm": "llm_api", "embeddings": "embeddings_api", "rerank": "rerank_api"}


@dataclass
class Outside(DependencyCheck):
    """Something with a circuit breaker: while that is not closed nothing else needs to be asked."""

    name: str = field(kw_only=True)  # type: ignore[misc] # one check per row of the catalogue
    breaker: str = field(kw_only=True, repr=False)
    breakers: Breakers = field(kw_only=True, repr=False)

    @override
    async def run(self) -> float:
        started = time.perf_counter()
        state = (await self.breakers.snapshot(self.breaker)).state
        if state is not BreakerState.CLOSED:
            raise ServiceUnavailable(f"Its circuit breaker is {state.value}")
        await self.look()
        return time.perf_counter() - started

    async def look(self) -> None:
        """Raise ServiceUnavailable unless it can be used."""
        raise NotImplementedError


@dataclass
class Guarded(Outside):
    """Something that tools lean on and of which nothing is known but its breaker."""

    told_when_well: ClassVar[bool] = False

    @override
    async def look(self) -> None:
        return


@dataclass
class Listening(Outside):
    """Somebody takes connections at `url`. What is asked of an API costs money or changes things."""

    url: str = field(kw_only=True, repr=False)
    allowed_networks: Sequence[str] | None = field(default=None, kw_only=True, repr=False)

    @override
    async def look(self) -> None:
        try:
            await reach(self.url, self.allowed_networks)
        except Unreachable as fault:
            raise ServiceUnavailable(str(fault)) from fault


@dataclass
class UpstreamServer(Outside):
    """What processes tell of their connections to an MCP server; without any, whether it is there."""

    runtime: Runtime = field(kw_only=True, repr=False)
    upstream: Upstream = field(kw_only=True, repr=False)

    @override
    async def look(self) -> None:
        try:
            reports = await read_reports(self.runtime.link, self.upstream.slug)
        except RedisDown:
            # That Redis is away is told under its own name.
            reports = ()
        told = {report.lifecycle: report for report in reports}
        for state, trouble in TROUBLE.items():
            if state in told:
                raise ServiceUnavailable(NO_TOOLS if told[state].error == NO_TOOLS else trouble)
        if ConnectionState.CONNECTED not in told:
            await self._find()

    async def _find(self) -> None:
        if self.upstream.transport is UpstreamTransport.STDIO:
            if self.upstream.command not in deployment().upstream_commands:
                raise ServiceUnavailable("Its command is not allowed by UPSTREAM_COMMANDS")
            return
        try:
            await reach(self.upstream.url, self.upstream.allowed_networks)
        except Unreachable as fault:
            raise ServiceUnavailable(str(fault)) from fault


def outside_checks(runtime: Runtime) -> Iterator[Outside]:
    """A check for each server and API that enabled tools come from, and for the LLM's."""
    catalogue, breakers = runtime.directory.catalogue, runtime.breakers
    for upstream in catalogue.upstreams.values():
        name = upstream.dependency
        yield UpstreamServer(
            name=name, breaker=name, breakers=breakers, runtime=runtime, upstream=upstream
        )
    services: dict[str, Service] = {}
    for spec in catalogue.tools.values():
        if spec.source is ToolSource.HTTP_API and "service" in spec.binding:
            services.setdefault(spec.dependency, Service.from_json(spec.binding["service"]))
    for name, service in sorted(services.items()):
        yield Listening(
            name=name,
            breaker=name,
            breakers=breakers,
            url=service.base_url,
            allowed_networks=service.allowed_networks,
        )
    known = {*services, *(upstream.dependency for upstream in catalogue.upstreams.values())}
    for name in sorted({spec.dependency for spec in catalogue.tools.values()} - known - {""}):
        yield Guarded(name=name, breaker=name, breakers=breakers)
    for name, breaker in MODELS.items():
        if endpoint := getattr(deployment().rag, name):
            yield Listening(name=name, breaker=breaker, breakers=breakers, url=endpoint.url)
