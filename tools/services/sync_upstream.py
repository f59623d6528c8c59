"""What an upstream server was found to offer, put into the catalogue.

A tool, prompt or resource whose definition differs from the approved one is quarantined: it alone,
until somebody decides. Discoveries come from every process; one that says nothing new costs a read.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from tools.contracts import wire_time
from tools.models import UpstreamServer
from tools.services.audit.acting import doing
from tools.services.upstream_definitions import storable
from tools.services.upstream_locks import lock_server
from tools.services.upstream_sync import Changes, Sync
from tools.upstreams import Discovered
from tools.upstreams.findings import text_findings

logger = logging.getLogger(__name__)

NO_TOOLS: Final = "No MCP tools available"
LONGEST_TEXT: Final = 500
MOST_WARNINGS: Final = 50


class UnknownServer(LookupError):
    """There is no such server any more."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a discovery came to. `unchanged` says that it told nothing new."""

    slug: str
    counts: Mapping[str, int]
    unchanged: bool = False
    changes: Changes = field(default_factory=Changes)

    def to_json(self) -> dict[str, Any]:
        return {
            "slug": self.slug,
            "counts": dict(self.counts),
            "unchanged": self.unchanged,
            **asdict(self.changes),
        }


def record_discovery(server: int | str, found: Discovered, *, noted: bool = False) -> Report:
    """Make the catalogue agree with what the server, given by key or slug, offers.

    All or nothing. With `noted`, everything is compared again although nothing may be new, and
    the time is written down.

    Raises:
        UnknownServer: it was deleted meanwhile.
    """
    known_by = {"pk": server} if isinstance(server, int) else {"slug": server}
    digest = _digest(found)
    row = _find(known_by)
    if not noted and row.discovered_hash == digest and row.last_discovery.get("ok"):
        return Report(row.slug, counts_of(found), unchanged=True)
    try:
        return _record(known_by, found, digest, noted=noted)
    except (IntegrityError, OperationalError):
        # Somebody took a name between our look and our saving, or we waited for each other; the
        # second look sees it.
        return _record(known_by, found, digest, noted=noted)


def record_failure(server: int | str, message: str) -> None:
    """Write down that a server could not be asked what it offers; what is known of it stays.

    Raises:
        UnknownServer: it was deleted meanwhile.
    """
    row = _find({"pk": server} if isinstance(server, int) else {"slug": server})
    last, text = row.last_discovery, str(storable(message))[:LONGEST_TEXT]
    if last.get("ok") is False and last.get("message") == text:
        return
    _note(row.pk, last_discovery={**last, "at": _now(), "ok": False, "message": text})


def _find(known_by: Mapping[str, Any]) -> UpstreamServer:
    row: UpstreamServer | None = UpstreamServer.objects.filter(**known_by).first()
    if row is None:
        raise UnknownServer(f"There is no MCP server {next(iter(known_by.values()))!r}")
    return row


@doing("The server was asked what it offers.")
def _record(known_by: Mapping[str, Any], found: Discovered, digest: str, *, noted: bool) -> Report:
    with transaction.atomic():
        locked = lock_server(**known_by)
        if locked is None:
            raise UnknownServer(f"There is no MCP server {next(iter(known_by.values()))!r}")
        same = locked.discovered_hash == digest and not noted
        changes = Changes() if same else Sync(locked, found).run()
        warnings = (
            locked.last_discovery.get("warnings", []) if same else warnings_of(found, changes)
        )
        _note(
            locked.pk,
            discovered_hash=digest,
            discovered_at=timezone.now(),
            last_discovery=_summary(found, warnings),
        )
    if not same:
        _tell(locked.slug, changes, warnings)
    return Report(locked.slug, counts_of(found), unchanged=same, changes=changes)


def _note(pk: int, **values: Any) -> None:
    # Not through the manager that announces: nothing that is served has changed by this.
    UpstreamServer._base_manager.filter(pk=pk).update(**values)


def _summary(found: Discovered, warnings: list[str]) -> dict[str, Any]:
    about = {key: found.server_info.get(key) for key in ("name", "title", "version")}
    texts = {key: value[:200] for key, value in about.items() if isinstance(value, str)}
    summary: dict[str, Any] = storable(
        {
            "at": _now(),
            "ok": True,
            "message": "",
            "seconds": round(found.seconds, 3),
            "protocol_version": found.protocol_version[:40],
            "server_info": texts,
            "counts": counts_of(found),
            "warnings": warnings[:MOST_WARNINGS],
        }
    )
    return summary


def warnings_of(found: Discovered, changes: Changes) -> list[str]:
    """What an operator should know of a discovery."""
    warnings = [] if found.tools else [NO_TOOLS]
    in_instructions = text_findings("instructions", found.instructions)
    warnings += [f"Its instructions: {finding.text}" for finding in in_instructions]
    warnings += changes.warnings
    return warnings + [f"{name}: {reason}" for name, reason in changes.refused.items()]


def _tell(slug: str, changes: Changes, warnings: list[str]) -> None:
    for warning in warnings[:MOST_WARNINGS]:
        logger.warning("MCP server %s: %s", slug, warning)
    for name in changes.changed:
        logger.warning("MCP server %s: %s has changed and is quarantined", slug, name)
    logger.info(
        "MCP server %s: %d added, %d waiting, %d changed, %d gone, %d back",
        slug,
        *map(len, (changes.added, changes.waiting, changes.changed, changes.gone, changes.back)),
    )


def counts_of(found: Discovered) -> dict[str, int]:
    """How many things of each kind a server offers."""
    kinds = ("tools", "prompts", "resources", "templates")
    return {kind: len(getattr(found, kind)) for kind in kinds}


def _digest(found: Discovered) -> str:
    """The hash of all that was found; the order in which a server lists things does not matter."""
    about = [found.protocol_version, dict(found.server_info), found.instructions, found.tools_only]
    lists = (found.tools, found.prompts, found.resources, found.templates)
    parts = [about, *(sorted(json.dumps(one, sort_keys=True) for one in kind) for kind in lists)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _now() -> str:
    return wire_time(timezone.now())
