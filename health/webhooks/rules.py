"""What receivers of events must satisfy. Pure."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit


def address_faults(address: str) -> list[str]:
    """What keeps an address from being a receiver's."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ["Is not an address."]
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        return ["Must start with https:// or http:// and name a host."]
    if parts.username is not None or parts.password is not None:
        return ["Must not hold a name or a password; receivers check the signature."]
    if "#" in address:
        return ["Must not have a fragment."]
    if any(character.isspace() or not character.isprintable() for character in address):
        return ["Must not have spaces or control characters."]
    return []


def network_faults(networks: Any) -> list[str]:
    """What keeps a value from being a list of networks."""
    if not isinstance(networks, list):
        return ['Must be a list, such as ["10.20.0.0/16"].']
    faults = []
    for network in networks:
        try:
            ipaddress.ip_network(network if isinstance(network, str) else "")
        except ValueError:
            faults.append(f"{network!r} is not a network.")
    return faults
