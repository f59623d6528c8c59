"""An event for a receiver of somebody else's: one POST over the guarded network, to one address.

Addresses of webhooks often hold a secret of their own, so only the host of one is ever written down.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from typing import Final

import httpcore2

from tools.backends.http_api.addresses import (
    AddressRefused,
    BadNetwork,
    Unresolved,
    system_resolve,
)
from tools.backends.http_api.exchange import Conditions, exchange
from tools.backends.http_api.network import Lines, system_certificates
from tools.backends.http_api.outgoing import Answer, BadAddress, Outgoing, split_address
from tools.backends.http_api.request import percent_encoded
from tools.operations import Service

# What the log calls receivers.
NAME: Final = "webhook"
_REASONS: Final[Mapping[type[Exception], str]] = {
    AddressRefused: "it is at an address that is not allowed; name its network if it should be",
    BadAddress: "its address is none of a web server",
    BadNetwork: "one of its allowed networks is no network",
    Unresolved: "its name is not known",
    httpcore2.ConnectError: "no connection",
    httpcore2.ConnectTimeout: "no connection in time",
}
_FAULTS: Final[tuple[type[Exception], ...]] = (
    *_REASONS,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
)


class PostFault(Exception):
    """No answer came. The message says why and holds nothing of what was sent."""


async def post(
    address: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    networks: Sequence[str],
    seconds: float,
) -> Answer:
    """What `address` answers; redirects are not followed.

    Raises:
        PostFault: it does not, within `seconds`, or it may not be asked.
    """
    lines = Lines(system_resolve, system_certificates)
    try:
        origin, parts = split_address(address)
        written = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        target = percent_encoded(written.encode())
        service = Service(NAME, str(origin), allowed_networks=tuple(networks))
        request = Outgoing("POST", origin, "", target, headers, body)
        async with asyncio.timeout(seconds), lines.use(service) as pool:
            # Nobody reads what a receiver says beside its status.
            return await exchange(request, Conditions(pool, NAME, 0, follow=False, whole=False))
    except TimeoutError:
        raise PostFault(f"no answer within {seconds:g} s") from None
    except _FAULTS as fault:
        raise PostFault(_reason(fault)) from None
    finally:
        await lines.close()


def _reason(fault: Exception) -> str:
    """Without the fault's own words, which can hold what was sent."""
    if fault.args and isinstance(fault.args[0], ssl.SSLError):
        return "it does not prove that it is this host"
    return _REASONS.get(type(fault), "it broke off the connection, or does not speak HTTP")
