"""A document from an address, over the same guarded network as the calls of tools."""

from __future__ import annotations

import asyncio
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
    Unresolved,
)


class FetchFault(Exception):
    """The document cannot be had. The message says why, and what to do."""


def fetch_document(address: str, networks: tuple[str, ...] = ()) -> bytes:
    """What is served at `address`; only public addresses and those in `networks` are asked.

    Raises:
        FetchFault: it cannot be had.
    """
    try:
        answer = asyncio.run(_fetch(address, networks))
    except TimeoutError as fault:
        raise FetchFault(f"{address} did not answer within {SECONDS} s") from fault
    except _FAULTS as fault:
        raise FetchFault(f"{address} cannot be had: {fault}") from fault
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as fault:
        raise FetchFault(f"{address} cannot be reached: {type(fault).__name__}") from fault
    if answer.status != 200:
        raise FetchFault(f"{address} answered with status {answer.status}")
    return answer.body


async def _fetch(address: str, networks: tuple[str, ...]) -> Answer:
    origin, parts = split_address(address)
    written = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = percent_encoded(written.encode())
    service = Service("document", str(origin), allowed_networks=networks)
    request = Outgoing("GET", origin, parts.path, target, headers={"Accept": _ACCEPTED})
    lines = Lines(system_resolve, system_certificates)
    try:
        async with asyncio.timeout(SECONDS), lines.use(service) as pool:
            return await exchange(request, Conditions(pool, service.slug, 0, LARGEST))
    finally:
        await lines.close()
