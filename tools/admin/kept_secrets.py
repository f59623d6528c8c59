"""Stored secrets and the address they are sent to: they do not go along to another one.

Whoever changes an address may not be able to read the secret. If it went along, they could have it sent
to a host of their own.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
ORIGIN: Final = "scheme, host or port"


def stays_behind(forget: str, place: str = ORIGIN) -> str:
    """What to do about a stored secret whose `place` has changed; `forget` is a switch of the form."""
    told = f"What is stored was entered for another {place} and does not go along."
    return f"{told} Enter it again, or switch on “{forget}”."


def same_origin(one: str, other: str) -> bool:
    """Whether both addresses have the same scheme, host and port.

    What programs may read in different ways is the same as itself alone.
    """
    if one == other:
        return True
    found = _origin(one)
    return found is not None and found == _origin(other)


def _origin(address: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    odd = any(one.isspace() or not one.isprintable() or one == "\\" for one in address)
    if odd or not host or "@" in parts.netloc:
        return None
    return parts.scheme, host, DEFAULT_PORTS.get(parts.scheme) if port is None else port
