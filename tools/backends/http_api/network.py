"""Connections to APIs: pooled, and made only to addresses that were checked.

Each service has a pool of its own. A connection that one service may use is so never at hand for
another, and an API that hangs takes nobody else's connections.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncConnectionPool,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    ConnectTimeout,
    default_ssl_context,
)
from typing_extensions import override

from tools.backends.http_api.addresses import Network, Resolve, checked_addresses, read_networks
from tools.operations import Service

MOST_CONNECTIONS: Final = 100
MOST_IDLE: Final = 20
IDLE_SECONDS: Final = 15.0
CONNECT_SECONDS: Final = 5.0
MOST_ADDRESSES: Final = 4
Certificates = Callable[[], ssl.SSLContext]


class GuardedNetwork(AsyncNetworkBackend):
    """Connects to names, at addresses it resolved and checked itself.

    The name is looked up once and the checked address is what is connected to; a second look-up, which
    may be answered differently, never happens. TLS is still checked against the name.
    """

    def __init__(self, allowed: tuple[Network, ...], resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = AnyIOBackend()

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        addresses = await checked_addresses(host, port, self._allowed, self._resolve)
        fault: ConnectError | ConnectTimeout | None = None
        for address in addresses[:MOST_ADDRESSES]:
            try:
                return await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (ConnectError, ConnectTimeout) as failed:
                fault = failed
        raise fault or ConnectError("there is no address to connect to")


@dataclass(slots=True)
class _Line:
    """The connections of one service as it is configured now."""

    allowed: tuple[str, ...]
    pool: AsyncConnectionPool
    users: int = 0
    retired: bool = False


class Lines:
    """The pools of all services, for the event loop it is used on."""

    def __init__(self, resolve: Resolve, certificates: Certificates) -> None:
        self._resolve = resolve
        self._certificates = certificates
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def use(self, service: Service) -> AsyncIterator[AsyncConnectionPool]:
        """The pool of `service`. Raises BadNetwork for networks that are none."""
        line = self._lines.get(service.slug)
        if line is None or line.allowed != service.allowed_networks:
            line = await self._replace(service)
        line.users += 1
        try:
            yield line.pool
        finally:
            line.users -= 1
            if line.retired and not line.users:
                await line.pool.aclose()

    async def close(self) -> None:
        """Hang up."""
        lines, self._lines = list(self._lines.values()), {}
        for line in lines:
            await line.pool.aclose()

    async def _replace(self, service: Service) -> _Line:
        """A new pool: what was connected under other rules is not used any more."""
        network = GuardedNetwork(read_networks(service.allowed_networks), self._resolve)
        certificates = await asyncio.to_thread(self._certificates)
        old = self._lines.get(service.slug)
        if old is not None and old.allowed == service.allowed_networks:
            # Somebody else was faster.
            return old
        line = _Line(
            service.allowed_networks,
            AsyncConnectionPool(
                ssl_context=certificates,
                max_connections=MOST_CONNECTIONS,
                max_keepalive_connections=MOST_IDLE,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=network,
            ),
        )
        self._lines[service.slug] = line
        if old is not None:
            old.retired = True
            if not old.users:
                await old.pool.aclose()
        return line


@cache
def system_certificates() -> ssl.SSLContext:
    """Whom TLS trusts. Read once: it takes longer than most requests."""
    return default_ssl_context()
