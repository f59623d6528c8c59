"""A look at one upstream server outside of calls: connect, list everything, hang up.

A test leaves the catalogue alone; a refresh puts what was found into it. Only saved servers are
looked at, so a program that is started is one of the allow-list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.errors import ControlPlaneError
from tools.models import UpstreamServer
from tools.services.sync_upstream import (
    LONGEST_TEXT,
    MOST_WARNINGS,
    Report,
    UnknownServer,
    counts_of,
    record_discovery,
    record_failure,
    warnings_of,
)
from tools.services.upstream_definitions import storable
from tools.services.upstream_sync import Changes
from tools.upstreams import Discovered, Upstream
from tools.upstreams.characters import visible

MOST_NAMED: Final = 200
LONGEST_NAME: Final = 200
MOST_LINES: Final = 20
LONGEST_LINE: Final = 300
KINDS: Final = ("tools", "prompts", "resources", "templates")
_NAMED_BY: Final = {"resources": "uri", "templates": "uriTemplate"}


class LookFault(Exception):
    """The server cannot be looked at; the message is for operators."""

    def __init__(self, message: str, error_lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.error_lines = tuple(error_lines)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look came to. `report` says what a refresh changed; a test changes nothing."""

    found: Discovered
    seconds: float
    report: Report | None = None

    def to_json(self) -> dict[str, Any]:
        """The same in short, as it is shown and kept; hidden characters are made visible."""
        found, report = self.found, self.report
        changes = Changes() if report is None else report.changes
        shown: dict[str, Any] = storable(
            {
                "seconds": round(self.seconds, 3),
                "connect_seconds": round(found.seconds, 3),
                "protocol_version": found.protocol_version[:40],
                "server_info": _about(found.server_info),
                "instructions": visible(found.instructions[:LONGEST_TEXT]),
                "counts": counts_of(found),
                "names": {kind: _names(kind, getattr(found, kind)) for kind in KINDS},
                "warnings": warnings_of(found, changes)[:MOST_WARNINGS],
            }
        )
        if report is not None:
            shown["unchanged"] = report.unchanged
            shown["changes"] = {
                word: [visible(name)[:LONGEST_NAME] for name in getattr(changes, word)[:MOST_NAMED]]
                for word in ("added", "waiting", "changed", "gone", "back")
            }
        return shown


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


def _about(info: Mapping[str, Any]) -> dict[str, str]:
    texts = {key: info.get(key) for key in ("name", "title", "version")}
    return {
        key: visible(value[:LONGEST_NAME]) for key, value in texts.items() if isinstance(value, str)
    }


def _names(kind: str, definitions: Iterable[Mapping[str, Any]]) -> list[str]:
    given = (one.get(_NAMED_BY.get(kind, "name")) for one in definitions)
    named = sorted(visible(name)[:LONGEST_NAME] for name in given if isinstance(name, str))
    return named[:MOST_NAMED]
