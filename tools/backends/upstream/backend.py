"""The backend of upstream MCP servers: a call becomes one tools/call there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from mcp.shared.inbound import mcp_param_headers

from tools.backends.ports import ports
from tools.backends.upstream import failures
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.connection import Connection
from tools.backends.upstream.manager import Manager
from tools.backends.upstream.questions import answers, ask, unasked
from tools.backends.upstream.results import (
    INPUT_REQUIRED,
    Malformed,
    check_fetched,
    checked,
    said,
)
from tools.backends.upstream.retrying import persist
from tools.backends.upstream.session import NobodyAsked, RpcError, Session
from tools.contracts import (
    BackendResult,
    CallContext,
    Deadline,
    ToolSpec,
    wire_time,
)
from tools.errors import ExecutionFailed, ReportedByTool, ServiceUnavailable
from tools.tracing import without_baggage
from tools.upstreams import Upstream

# Questions a server may ask in a row before it gives an answer.
MOST_ROUNDS: Final = 10
COMPLETE: Final = "completion/complete"
# The clock of an event loop may be that much behind, and its timers early.
CLOCK_SECONDS: Final = 0.05
LATE: Final = "a call was not answered in time"


class UpstreamBackend:
    """Serves the tools of source upstream. One for the process; connections are per event loop."""

    def __init__(self) -> None:
        self._managers: dict[asyncio.AbstractEventLoop, Manager] = {}

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        server, _ = _bound(spec.binding, spec.name)
        connection: Connection | None = None
        repeatable = spec.read_only or spec.idempotent
        try:
            connection = self.manager().connection(server)
            work = partial(self._work, spec, arguments, context, connection)
            data = await persist(connection, work, context.deadline, repeatable=repeatable)
        except ChannelFault as fault:
            raise failures.unreachable(server, spec.name, fault) from fault
        except RpcError as error:
            raise failures.answered_with_error(server, spec.name, error) from error
        except NobodyAsked as silence:
            raise unasked(spec.name, context, silence) from silence
        except asyncio.CancelledError:
            if connection is not None and context.deadline.remaining() < CLOCK_SECONDS:
                connection.failed(LATE)
            raise
        return BackendResult(data)

    async def fetch(
        self, binding: Mapping[str, Any], method: str, params: Mapping[str, Any], deadline: Deadline
    ) -> Mapping[str, Any]:
        """The result of a request that is no call of a tool: a prompt, a resource.

        Raises:
            ControlPlaneError: saying what went wrong.
        """
        server, remote = _bound(binding, method)
        connection: Connection | None = None
        try:
            connection = self.manager().connection(server)
            async with asyncio.timeout(deadline.remaining()):
                return await persist(
                    connection,
                    partial(_fetched, method, params),
                    deadline,
                    repeatable=True,
                )
        except TimeoutError as fault:
            if connection is not None:
                connection.failed(LATE)
            raise ServiceUnavailable(f"{server.name} did not answer in time", 5) from fault
        except ChannelFault as fault:
            raise failures.unreachable(server, remote, fault) from fault
        except RpcError as error:
            raise failures.answered_with_error(server, remote, error) from error
        except Malformed as fault:
            raise failures.malformed(server, remote, str(fault)) from fault

    @property
    def managing(self) -> bool:
        """Whether there are connections on this event loop, or were."""
        return asyncio.get_running_loop() in self._managers

    def manager(self) -> Manager:
        """The connections of this event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._managers:
            for ended in [one for one in self._managers if one.is_closed()]:
                del self._managers[ended]
            self._managers[loop] = Manager()
            ports.endings.append(partial(self._end, loop))
        return self._managers[loop]

    def connections(self) -> tuple[Connection, ...]:
        """All connections of this process, to be looked at."""
        managers = tuple(self._managers.values())
        return tuple(one for manager in managers for one in manager.connections())

    async def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        manager = self._managers.pop(loop, None)
        if manager is not None and not loop.is_closed():
            await manager.close()

    async def _work(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        context: CallContext,
        connection: Connection,
        session: Session,
    ) -> dict[str, Any]:
        server, remote = spec.binding["server"], spec.binding["remote_name"]
        _check_pin(spec, remote, connection)
        params = {"name": remote, "arguments": arguments}
        headers = _headers(connection, remote, arguments, session)
        if context.trace:
            # What stands between here and the server reads headers, not messages.
            headers = {**(headers or {}), **without_baggage(context.trace)}
        meta = _told_upstream(context)
        round_ = context.round
        for _ in range(MOST_ROUNDS):
            asked = {**params, **answers(round_)} if session.agreed.modern else params
            result = await session.request(
                "tools/call", asked, context=context, meta=meta, headers=headers
            )
            if result.get("resultType") != INPUT_REQUIRED:
                return _passed(server, spec, result)
            round_ = await ask(spec.name, context, result)
        raise ExecutionFailed(f"{server.name} asks more and more questions")


def _bound(binding: Mapping[str, Any], name: str) -> tuple[Upstream, str]:
    server, remote = binding.get("server"), binding.get("remote_name")
    if not isinstance(server, Upstream) or not remote:
        raise ServiceUnavailable(
            f"{name} is not bound to a server", 60, "Tell the operator: refresh the server's tools"
        )
    return server, remote


def _check_pin(spec: ToolSpec, remote: str, connection: Connection) -> None:
    """What runs must be what was approved, also in the moment before the catalogue knows."""
    approved = spec.binding.get("fingerprint")
    offered = connection.tools.get(remote)
    if approved and offered != approved:
        raise failures.held_back(connection.upstream, spec.name, gone=offered is None)


def _headers(
    connection: Connection, remote: str, arguments: Mapping[str, Any], session: Session
) -> Mapping[str, str] | None:
    """Arguments that the tool wants announced in headers.

    The definition as the server lists it tells which; the catalogue has it without those marks,
    which are not for clients of this service.
    """
    announced = connection.announced.get(remote) if session.agreed.modern else None
    return mcp_param_headers(announced, arguments) if announced else None


def _told_upstream(context: CallContext) -> dict[str, Any]:
    """What the server is told of the call beside its arguments."""
    told: dict[str, Any] = {
        "request_id": str(context.request_id),
        "timestamp": wire_time(datetime.now(UTC)),
        **context.trace,
    }
    if context.correlation_id:
        told["correlation_id"] = context.correlation_id
    if context.thread_id:
        told["thread_id"] = context.thread_id
    return told


def _passed(server: Upstream, spec: ToolSpec, result: Mapping[str, Any]) -> dict[str, Any]:
    try:
        passed = checked(result)
    except Malformed as fault:
        raise failures.malformed(server, spec.name, str(fault)) from fault
    if result.get("isError") is True:
        raise ReportedByTool(said(passed["content"]), passed)
    return passed


async def _fetched(method: str, params: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    if method == COMPLETE and "completions" not in session.agreed.capabilities:
        # It suggests nothing; asking would only be an error in its log.
        return {}
    result = await session.request(method, params)
    check_fetched(method, result)
    return result
