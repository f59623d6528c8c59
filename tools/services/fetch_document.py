"""A document from an address, over the same guarded network as the calls of tools."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import Final

import httpcore2

from tools.backends.http_api.addresses import (
    AddressRefused,
    BadNetwork,
    Unresolved,
    system_resolve,
)
from tools.backends.http_api.exchange import Conditions, RedirectRefused, exchange
from tools.backends.http_api.network import Lines, system_certificates
from tools.backends.http_api.outgoing import Answer, BadAddress, Outgoing, split_address
from tools.backends.http_api.request import percent_encoded
from tools.backends.http_api.unpacking import TooLarge, Undecodable
from tools.operations import Service

SECONDS: Final = 30
LARGEST: Final = 20_000_000
_ACCEPTED: Final = "application/json, application/yaml, text/yaml, */*"
_FAULTS: Final = (
    AddressRefused,
    BadAddress,
    BadNetwork,
    RedirectRefused,
    TooLarge,
    Undecodable,
)


class FetchFault(Exception):
    """The document cannot be had. The message says why, and what to do; `passing` ones may pass.

    `status` is that of HTTP, 0 where no answer came.
    """

    def __init__(self, message: str, *, passing: bool = False, status: int = 0) -> None:
        super().__init__(message)
        self.passing = passing
        self.status = status


def fetch_document(address: str, networks: tuple[str, ...] = ()) -> bytes:
    """What is served at `address`; only public addresses and those in `networks` are asked.

    Raises:
        FetchFault: it cannot be had.
    """
    return asyncio.run(fetch(address, networks))


async def fetch(
    address: str,
    networks: tuple[str, ...] = (),
    *,
    headers: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    follow: bool = True,
) -> bytes:
    """The same, with `headers` of one's own; unless it may `follow`, a redirect is a fault.

    Raises:
        FetchFault: it cannot be had.
    """
    try:
        async with asyncio.timeout(seconds):
            answer = await _fetch(address, networks, headers or {}, follow=follow)
    except TimeoutError as fault:
        raise FetchFault(f"{address} did not answer within {seconds} s", passing=True) from fault
    except _FAULTS as fault:
        raise FetchFault(f"{address} cannot be had: {fault}") from fault
    except Unresolved as fault:
        raise FetchFault(f"{address} cannot be had: {fault}", passing=True) from fault
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as fault:
        raise FetchFault(f"{address} cannot be reached: {_why(fault)}", passing=True) from fault
    if answer.status != 200:
        passing = answer.status == 429 or answer.status >= 500
        told = f"{address} answered with status {answer.status}"
        raise FetchFault(told, passing=passing, status=answer.status)
    return answer.body


def _why(fault: Exception) -> str:
    match fault:
        case httpcore2.ConnectError() if _caused(fault, ssl.SSLCertVerificationError):
            return "it does not prove that it is this host (TLS)"
        case httpcore2.ConnectError() if _caused(fault, ssl.SSLError):
            return "what answers there does not speak TLS as this does"
        case httpcore2.ConnectError() if not _caused(fault, ConnectionResetError):
            return "nothing there takes connections"
        case httpcore2.TimeoutException():
            return "no answer in time"
        # h11's words for an answer that began as HTTP and ended before it was whole.
        case httpcore2.ProtocolError() if not str(fault).startswith("peer closed connection"):
            return "what answers there is no HTTP"
    return "the connection broke off"


def _caused(fault: BaseException | None, kind: type[BaseException]) -> bool:
    while fault is not None and not isinstance(fault, kind):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


async def _fetch(
    address: str, networks: tuple[str, ...], headers: Mapping[str, str], *, follow: bool
) -> Answer:
    origin, parts = split_address(address)
    written = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = percent_encoded(written.encode())
    service = Service("document", str(origin), allowed_networks=networks)
    request = Outgoing("GET", origin, parts.path, target, headers={"Accept": _ACCEPTED, **headers})
    lines = Lines(system_resolve, system_certificates)
    try:
        async with lines.use(service) as pool:
            conditions = Conditions(pool, service.slug, 0, LARGEST, follow=follow)
            return await exchange(request, conditions)
    finally:
        await lines.close()
