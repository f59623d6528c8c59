"""Whether anybody listens where an API is said to be: connecting, and nothing that it would answer to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from tools.backends.http_api.addresses import (
    AddressRefused,
    BadNetwork,
    Resolve,
    Unresolved,
    checked_addresses,
    read_networks,
    system_resolve,
)

__all__ = ["Unreachable", "reach"]

_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class Unreachable(Exception):
    """Nobody can be connected to there. The message is for everyone; the cause for the log."""


async def reach(
    url: str, allowed_networks: Sequence[str] | None, resolve: Resolve = system_resolve
) -> None:
    """Connect to the host of `url` and hang up. Without `allowed_networks` any address will do.

    Raises:
        Unreachable: that is not possible, or not allowed.
    """
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        if allowed_networks is None:
            addresses = list(await resolve(host, port))
        else:
            allowed = read_networks(allowed_networks)
            addresses = await checked_addresses(host, port, allowed, resolve)
        await _connect(addresses, port)
    except (AddressRefused, BadNetwork) as fault:
        raise Unreachable("It is at an address that is not allowed") from fault
    except (Unresolved, OSError, UnicodeError, KeyError, ValueError) as fault:
        raise Unreachable("It cannot be reached") from fault


async def _connect(addresses: Sequence[str], port: int) -> None:
    last: OSError = OSError("it has no address")
    for address in addresses:
        try:
            _, writer = await asyncio.open_connection(address, port)
        except OSError as fault:
            last = fault
            continue
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return
    raise last
