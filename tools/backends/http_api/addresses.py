"""Which addresses may be connected to: public ones, and those in networks that a service allows.

A tool's arguments, an API's redirects and whoever answers for a name in DNS must not be able to make
this process talk to machines that only it can reach.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
# All addresses of a host name, as texts. Raises OSError when there are none.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

# Not for everybody, though some releases of Python take them for it: kept for protocols, for
# documentation and as relays; and the one public number behind which a cloud hands out credentials.
_NOT_PUBLIC: Final = tuple(
    ip_network(written)
    for written in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
# All that has been given out of IPv6 for general use.
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
# IPv6 addresses that hold an IPv4 address in their last four bytes: NAT64 and the old compatible ones.
_EMBEDDING: Final = tuple(
    IPv6Network(written) for written in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")
)
# Look-ups block their thread, some for half a minute; other work must not wait behind them.
_names = ThreadPoolExecutor(max_workers=8, thread_name_prefix="api-names")


class AddressRefused(Exception):
    """No address of this host may be connected to. The message is for the log."""


class BadNetwork(ValueError):
    """What is written is not a network."""


class Unresolved(Exception):
    """The host name has no address."""


def read_networks(written: Sequence[str]) -> tuple[Network, ...]:
    """The networks a service allows.

    Raises:
        BadNetwork: one of them is none.
    """
    try:
        return tuple(ip_network(one, strict=False) for one in written)
    except ValueError:
        raise BadNetwork("one of its allowed networks is no network") from None


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses the system knows for `host`, in its order of preference."""
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(
        _names, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    )
    return [str(sockaddr[0]) for *_, sockaddr in found]


async def checked_addresses(
    host: str, port: int, allowed: Sequence[Network], resolve: Resolve
) -> list[str]:
    """The addresses of `host` that may be connected to; connect to these, not to the name.

    Raises:
        Unresolved: there is no such host.
        AddressRefused: it has addresses, none of which may be used.
    """
    try:
        found = list(dict.fromkeys(await resolve(host, port)))
    except (OSError, UnicodeError) as fault:
        raise Unresolved(f"{host} has no address") from fault
    good = [written for written in found if is_allowed(written, allowed)]
    if found and not good:
        raise AddressRefused(f"{host} is at {', '.join(found[:4])}, where it may not be")
    if not good:
        raise Unresolved(f"{host} has no address")
    return good


def is_allowed(written: str, allowed: Sequence[Network]) -> bool:
    """Whether this address, and any that is written inside it, is public or in an allowed network."""
    try:
        address = ip_address(written)
    except ValueError:
        return False
    return all(_is_public(one) or _is_in(one, allowed) for one in _meant(address))


def _meant(address: Address) -> Iterator[Address]:
    """The addresses that a packet to `address` may end up at."""
    if isinstance(address, IPv4Address):
        yield address
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    # A zone only says through which interface.
    plain = IPv6Address(int(address))
    if any(plain in network for network in _EMBEDDING) and int(plain) > 1:
        yield IPv4Address(int(plain) & 0xFFFFFFFF)
        return
    if plain.sixtofour is not None:
        yield plain.sixtofour
        return
    if plain.teredo is not None:
        yield from plain.teredo
    yield plain


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not _is_in(address, _NOT_PUBLIC)
    )


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
