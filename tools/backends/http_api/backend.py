"""The backend of HTTP APIs: a call becomes one request, or the few that an adapter makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tools.backends.http_api import failures
from tools.backends.http_api.adapters import ADAPTERS
from tools.backends.http_api.addresses import Resolve, system_resolve
from tools.backends.http_api.attempt import attempt
from tools.backends.http_api.auth import authorize
from tools.backends.http_api.network import Certificates, Lines, system_certificates
from tools.backends.http_api.outgoing import Answer, Outgoing
from tools.backends.http_api.patience import Patience, telling
from tools.backends.http_api.rate import Allowance
from tools.backends.http_api.reading import read
from tools.backends.http_api.request import build, misconfigured, told_of
from tools.backends.http_api.retry import until_answered
from tools.backends.http_api.selection import BadSelection, select
from tools.backends.http_api.unreadable import Unreadable
from tools.backends.ports import ports
from tools.contracts import BackendResult, CallContext, ToolSpec
from tools.errors import DeadlineExceeded, ServiceUnavailable
from tools.operations import Operation, Service

# Above this many bytes reading takes longer than handing it to a thread.
OFFLOAD_BYTES: Final = 50_000


class HttpApiBackend:
    """Serves the tools of source http_api. One for the process; its connections are per event loop."""

    def __init__(
        self,
        *,
        resolve: Resolve = system_resolve,
        certificates: Certificates = system_certificates,
        patience: Patience | None = None,
    ) -> None:
        self._resolve = resolve
        self._certificates = certificates
        self._patience = patience or Patience()
        self._allowance = Allowance()
        self._lines: dict[asyncio.AbstractEventLoop, Lines] = {}

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        service, operation = _bound(spec)
        one = _Call(self._connections(), self._allowance, service, context)
        try:
            async with (
                asyncio.timeout(context.deadline.remaining()) as limit,
                telling(context, service.slug, self._patience),
            ):
                data = await _work(spec, one, operation, arguments)
        except TimeoutError as fault:
            if limit.expired():
                raise DeadlineExceeded(spec.name, context.deadline.seconds) from fault
            raise
        meta = {} if one.remaining is None else {"api_rate_remaining": one.remaining}
        return BackendResult(data, meta)

    async def close(self) -> None:
        """Hang up what this event loop has connected."""
        await self._end(asyncio.get_running_loop())

    def _connections(self) -> Lines:
        loop = asyncio.get_running_loop()
        if loop not in self._lines:
            for ended in [one for one in self._lines if one.is_closed()]:
                del self._lines[ended]
            self._lines[loop] = Lines(self._resolve, self._certificates)
            ports.endings.append(partial(self._end, loop))
        return self._lines[loop]

    async def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        lines = self._lines.pop(loop, None)
        if lines is not None and not loop.is_closed():
            await lines.close()


class _Call:
    """One call: makes requests of its service by all the rules."""

    def __init__(
        self, lines: Lines, allowance: Allowance, service: Service, context: CallContext
    ) -> None:
        self._lines = lines
        self._allowance = allowance
        self._service = service
        self._context = context
        self.remaining: int | None = None

    async def fetch(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """What `operation` answers to `arguments`.

        Raises:
            ControlPlaneError: saying what went wrong, and who can do something about it.
        """
        service = self._service
        asked = build(service, operation, arguments, told_of(self._context))
        request = authorize(asked, service)
        answer = await until_answered(
            partial(attempt, self._lines, service, request),
            self._admit,
            retries=service.retries if operation.repeatable else 0,
            deadline=self._context.deadline,
        )
        understand = partial(_understand, service, operation, request, answer)
        if len(answer.body) <= OFFLOAD_BYTES:
            return understand()
        return await asyncio.to_thread(understand)

    async def _admit(self) -> None:
        self.remaining = await self._allowance.take(self._service)


def _bound(spec: ToolSpec) -> tuple[Service, Operation | None]:
    try:
        service = Service.from_json(spec.binding["service"])
        written = spec.binding.get("operation")
        return service, None if written is None else Operation.from_json(written)
    except (KeyError, TypeError, ValueError) as fault:
        raise ServiceUnavailable(
            f"{spec.name} is not bound to an API", 60, "Tell the operator: configure its operation"
        ) from fault


async def _work(
    spec: ToolSpec, call: _Call, operation: Operation | None, arguments: Mapping[str, Any]
) -> Any:
    adapter = ADAPTERS.get(spec.binding.get("adapter", ""))
    if adapter is not None:
        return await adapter(call.fetch, arguments)
    if operation is None or spec.binding.get("adapter"):
        raise ServiceUnavailable(
            f"{spec.name} cannot run here: this release does not know its adapter", 60
        )
    return await call.fetch(operation, arguments)


def _understand(service: Service, operation: Operation, request: Outgoing, answer: Answer) -> Any:
    try:
        data = read(answer, operation.method, request.secrets)
    except Unreadable as fault:
        raise failures.garbage(service, str(fault)) from None
    try:
        return select(operation.select, data)
    except BadSelection as fault:
        raise misconfigured(service, f"the selection of its answer fails, {fault}") from None
