"""What all transports over the network share: where they may connect, as whom, and what goes wrong."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from multidict import CIMultiDict
from typing_extensions import override
from yarl import URL

from tools.backends.http_api.addresses import (
    AddressRefused,
    BadNetwork,
    Network,
    Resolve,
    Unresolved,
    checked_addresses,
    is_allowed,
    read_networks,
)
from tools.backends.http_api.network import Certificates
from tools.backends.upstream.channel import ChannelFault, Garbage, Refused
from tools.backends.upstream.transports.http1 import BadHttp
from tools.backends.upstream.transports.sealed import opened_texts
from tools.upstreams import Upstream
from tools.upstreams.values import RESERVED_HEADERS

DNS_SECONDS: Final = 10
# What goes wrong with a request; `told` says what each means.
FAULTS: Final = (
    aiohttp.ClientError,
    BadHttp,
    AddressRefused,
    Unresolved,
    TimeoutError,
    OSError,
    ValueError,
)


class CheckedResolver(AbstractResolver):
    """Looks names up and gives out only addresses that may be connected to."""

    def __init__(self, allowed: Sequence[Network], resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await checked_addresses(host, port, self._allowed, self._resolve)
        ]

    @override
    async def close(self) -> None:
        """Nothing is held."""


class NotConnected(OSError):
    """No connection could be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """Connections to one server. `place` names it in messages: no path, query or password."""

    session: aiohttp.ClientSession
    url: URL
    place: str
    headers: CIMultiDict[str]


async def open_line(
    upstream: Upstream,
    schemes: Sequence[str],
    resolve: Resolve,
    certificates: Certificates,
    middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
) -> Line:
    """Ready to connect; nothing is connected yet.

    Raises:
        ChannelFault: the server's configuration does not allow it.
    """
    url, place, allowed, trusted = await prepared(upstream, schemes, certificates)
    headers = configured_headers(upstream)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0,
            ssl=True if trusted is None else trusted,
            resolver=CheckedResolver(allowed, resolve),
            ttl_dns_cache=DNS_SECONDS,
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, connect=upstream.connect_timeout),
        auto_decompress=False,
        skip_auto_headers=("User-Agent",),
        trust_env=False,
        middlewares=middlewares,
    )
    return Line(session, url, place, headers)


async def prepared(
    upstream: Upstream, schemes: Sequence[str], certificates: Certificates
) -> tuple[URL, str, tuple[Network, ...], ssl.SSLContext | None]:
    """Address, its name in messages, the networks it may be in, and whom TLS trusts, if it is used.

    Raises:
        ChannelFault: the server's configuration does not allow it.
    """
    url, place = _address(upstream, schemes)
    try:
        allowed = read_networks(upstream.allowed_networks)
    except BadNetwork as fault:
        raise ChannelFault(str(fault), sent=False) from None
    _check_literal(url, place, allowed)
    secure = url.scheme in ("https", "wss")
    return url, place, allowed, await asyncio.to_thread(certificates) if secure else None


def told(fault: Exception, place: str) -> ChannelFault:
    """What an operator is told of a fault, and whether the server may have got the request."""
    if isinstance(fault, aiohttp.ClientResponseError | BadHttp):
        return Garbage(f"{place} does not speak HTTP as it should")
    if reason := _unreached(fault):
        return ChannelFault(f"{place} {reason}", sent=False)
    if isinstance(fault, ValueError):
        # Without its own words, which may hold what was to be sent.
        return ChannelFault(f"the request to {place} breaks the rules of HTTP", sent=True)
    return ChannelFault(f"{place} broke the connection", sent=True)


def _unreached(fault: Exception) -> str:
    """Why nothing was sent; empty when something may have been."""
    match fault:
        case AddressRefused():
            return f"may not be called: {fault}"
        case aiohttp.ClientSSLError() | ssl.CertificateError() | ssl.SSLError():
            return "does not prove that it is this host (TLS)"
        case Unresolved() | NotConnected():
            reason = str(fault)
        case aiohttp.ConnectionTimeoutError():
            reason = "no connection in time"
        case aiohttp.ClientConnectorError():
            reason = (fault.os_error.strerror or "no connection").lower()
        case aiohttp.InvalidURL():
            reason = "that is no address"
        case _:
            return ""
    return f"cannot be reached: {reason}"


async def refuse_redirects(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """For requests that would be sent on to wherever an answer points."""
    answer = await send(request)
    if 300 <= answer.status < 400:
        answer.close()
        place = str(request.url.origin())
        raise Refused(f"{place} sends its callers elsewhere", status=answer.status)
    return answer


def _address(upstream: Upstream, schemes: Sequence[str]) -> tuple[URL, str]:
    try:
        url = URL(upstream.url)
        place = str(url.origin())
    except ValueError:
        raise ChannelFault("its address cannot be read", sent=False) from None
    if url.scheme not in schemes:
        raise ChannelFault(f"its address does not begin with {schemes[0]}://", sent=False)
    return url.with_fragment(None), place


def _check_literal(url: URL, place: str, allowed: Sequence[Network]) -> None:
    """Numbers are not looked up, so the resolver never sees them."""
    try:
        address = str(ip_address(url.host or ""))
    except ValueError:
        return
    if not is_allowed(address, allowed):
        reason = "its address is in no network that it is allowed"
        raise ChannelFault(f"{place} may not be called: {reason}", sent=False)


def configured_headers(upstream: Upstream) -> CIMultiDict[str]:
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in opened_texts(upstream.headers, "headers").items():
        if name.lower() in RESERVED_HEADERS:
            raise ChannelFault(f"its header {name} cannot be set", sent=False)
        if not name.isascii() or set(name + value) & set("\r\n\0"):
            raise ChannelFault(f"its header {name!r} cannot be sent", sent=False)
        headers[name] = value
    return headers
