"""A look at one upstream server outside of calls: connect, list everything, hang up.

A test leaves the catalogue alone; a refresh puts what was found into it. Only saved servers are
looked at, so a program that is started is one of the allow-list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

from tools.errors import ControlPlaneError
from tools.models import UpstreamServer
from tools.services.looked_upstream import Looked
from tools.services.sync_upstream import UnknownServer, record_discovery, record_failure
from tools.upstreams import Discovered, Upstream

MOST_LINES: Final = 20
LONGEST_LINE: Final = 300


class LookFault(Exception):
    """The server cannot be looked at; the message is for operators."""

    def __init__(self, message: str, error_lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.error_lines = tuple(error_lines)


def look(key: int | str, *, refresh: bool) -> Looked:
    """Ask the server with that key or slug what it offers.

    Raises:
        UnknownServer: there is no such server.
        LookFault: it cannot be reached or does not answer as a server does.
    """
    row = UpstreamServer.objects.filter(**_known_by(key)).first()
    if row is None:
        raise UnknownServer(f"There is no MCP server {key!r}")
    began = time.monotonic()
    try:
        found = _probe(row)
    except LookFault as fault:
        if refresh:
            record_failure(row.pk, str(fault))
        raise
    seconds = time.monotonic() - began
    report = record_discovery(row.pk, found, noted=True) if refresh else None
    return Looked(found, seconds, report)


def enabled_slugs() -> list[str]:
    """The servers that are switched on."""
    return list(UpstreamServer.objects.filter(enabled=True).values_list("slug", flat=True))


def look_limit(connect_timeout: int) -> int:
    """Seconds in which a look has ended, one way or the other."""
    # To connect, then three times as long for the lists, and a little to hang up.
    return 4 * connect_timeout + 15


def _known_by(key: int | str) -> dict[str, Any]:
    return {"pk": key} if isinstance(key, int) else {"slug": key}


def _probe(row: UpstreamServer) -> Discovered:
    lines: list[str] = []
    try:
        server = row.to_value()
    except (TypeError, ValueError) as fault:
        raise LookFault(f"Its settings cannot be used: {fault}") from fault
    try:
        return asyncio.run(_asked(server, look_limit(row.connect_timeout), lines))
    except ControlPlaneError as fault:
        last = [line[:LONGEST_LINE] for line in lines[-MOST_LINES:]]
        raise LookFault(str(fault), last) from fault
    except TimeoutError as fault:
        raise LookFault(f"{row} took too long to list what it offers") from fault


async def _asked(server: Upstream, limit: float, lines: list[str]) -> Discovered:
    # Only who looks pays for loading the client.
    from tools.backends.upstream.probing import probe

    async with asyncio.timeout(limit):
        return await probe(server, lines.extend)
