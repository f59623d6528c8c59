"""Connections for HTTP/1.1: made only to addresses that were checked, within the server's limit."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from aiohttp import BasicAuth
from multidict import CIMultiDict
from yarl import URL

from tools.backends.http_api.addresses import Network, Resolve, checked_addresses
from tools.backends.http_api.network import Certificates
from tools.backends.upstream.transports.http1 import Http1
from tools.backends.upstream.transports.network import (
    NotConnected,
    configured_headers,
    prepared,
)
from tools.upstreams import Upstream

MOST_ADDRESSES: Final = 4


@dataclass(frozen=True, slots=True)
class HttpLine:
    """Exchanges with one server. `place` names it in messages: no path, query or password."""

    http: Http1
    place: str
    headers: CIMultiDict[str]


async def open_http(upstream: Upstream, resolve: Resolve, certificates: Certificates) -> HttpLine:
    """Ready to connect; nothing is connected yet.

    Raises:
        ChannelFault: the server's configuration does not allow it.
    """
    url, place, allowed, trusted = await prepared(upstream, ("http", "https"), certificates)
    headers = configured_headers(upstream)
    if (signed := BasicAuth.from_url(url)) is not None and "Authorization" not in headers:
        headers["Authorization"] = signed.encode()
    connector = _Connector(url, allowed, resolve, trusted, upstream.connect_timeout)
    return HttpLine(Http1(connector.connect, url), place, headers)


@dataclass(frozen=True, slots=True)
class _Connector:
    url: URL
    allowed: tuple[Network, ...]
    resolve: Resolve
    trusted: ssl.SSLContext | None
    seconds: float

    async def connect(self, protocol: Callable[[], asyncio.Protocol]) -> asyncio.BaseProtocol:
        """A connection to the first address that takes one.

        Raises:
            NotConnected, Unresolved, AddressRefused, ssl.SSLError: there is none to be had.
        """
        try:
            async with asyncio.timeout(self.seconds):
                return await self._first(protocol)
        except TimeoutError:
            raise NotConnected("no connection in time") from None

    async def _first(self, protocol: Callable[[], asyncio.Protocol]) -> asyncio.BaseProtocol:
        host, port = self.url.host or "", self.url.port or 0
        found = await checked_addresses(host, port, self.allowed, self.resolve)
        reason = "no connection"
        for address in found[:MOST_ADDRESSES]:
            try:
                return await self._at(address, host, port, protocol)
            except ssl.SSLError:
                raise
            except OSError as fault:
                # Not its own words, which may be those of an event loop.
                reason = os.strerror(fault.errno).lower() if fault.errno else reason
        raise NotConnected(reason)

    async def _at(
        self, address: str, host: str, port: int, protocol: Callable[[], asyncio.Protocol]
    ) -> asyncio.BaseProtocol:
        loop = asyncio.get_running_loop()
        named = host if self.trusted is not None else None
        _, made = await loop.create_connection(
            protocol, address, port, ssl=self.trusted, server_hostname=named
        )
        return made
