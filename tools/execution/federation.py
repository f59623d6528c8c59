"""Connections to upstream servers for as long as a process serves, and their prompts and resources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from tools.backends.late import upstreams
from tools.backends.ports import ports
from tools.contracts import Deadline
from tools.errors import BreakerOpen, ControlPlaneError
from tools.execution.lookup import Directory
from tools.execution.runtime import Runtime
from tools.guards.breaker import BreakerRefused
from tools.upstreams import NO_TOOLS, ConnectionState, Discovered, Upstream

Record = Callable[[str, Discovered], Awaitable[None]]
# Beside the time its server is given: connecting, and trying again.
LONGEST_READ: Final = 30.0
# For whoever looks at the health of the service; reasons and addresses are in the log.
TROUBLE: Final = {
    ConnectionState.FAILED: "It cannot be reached",
    ConnectionState.DEGRADED: "Its last calls failed",
}


@asynccontextmanager
async def keeping_upstreams(
    runtime: Runtime, record: Record, *, meet: bool = True
) -> AsyncIterator[None]:
    """Meet servers that are to be connected from the start, and follow the catalogue's changes.

    `record` is told what each server offers, whenever that was found out. Without `meet`, servers
    are met by the first call of each.
    """

    def follow(_: Directory, after: Directory) -> None:
        servers = after.catalogue.upstreams
        awaited = meet and any(server.connect_at_start for server in servers.values())
        # A process that calls no server does not even load the client.
        if awaited or (upstreams.cache_info().currsize and upstreams().managing):
            upstreams().manager().follow(servers, meet=meet)

    ports.discovered = record
    runtime.changed.append(follow)
    follow(runtime.directory, runtime.directory)
    try:
        yield
    finally:
        runtime.changed.remove(follow)
        ports.discovered = None


def troubled() -> dict[str, str]:
    """Servers that this process knows and cannot use as it should, by their breaker, and why."""
    if not upstreams.cache_info().currsize:
        return {}
    return {
        one.upstream.dependency: one.error if one.error == NO_TOOLS else TROUBLE[one.state]
        for one in upstreams().connections()
        if one.state in TROUBLE
    }


async def fetch(
    runtime: Runtime, binding: Mapping[str, Any], method: str, params: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What the server of a prompt or a resource answers, past its breaker.

    Raises:
        ControlPlaneError: it is left alone, cannot be reached, or declines.
    """
    server: Upstream = binding["server"]
    deadline = Deadline.after(min(server.connect_timeout + server.call_timeout, LONGEST_READ))
    try:
        permit = await runtime.breakers.admit(server.dependency)
    except BreakerRefused as refused:
        raise BreakerOpen(server.left_alone, refused.retry_after) from refused
    try:
        result = await upstreams().fetch(binding, method, params, deadline)
    except ControlPlaneError as error:
        settle = runtime.breakers.failure if error.retryable else runtime.breakers.success
        await settle(permit)
        raise
    except BaseException:
        await runtime.breakers.abandon(permit)
        raise
    await runtime.breakers.success(permit)
    return result
