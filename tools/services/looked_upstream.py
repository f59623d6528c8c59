"""What a look at an upstream server came to, in short."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.services.sync_upstream import (
    LONGEST_TEXT,
    MOST_WARNINGS,
    Report,
    counts_of,
    warnings_of,
)
from tools.services.upstream_definitions import storable
from tools.services.upstream_sync import Changes
from tools.upstreams import Discovered
from tools.upstreams.characters import visible

MOST_NAMED: Final = 200
LONGEST_NAME: Final = 200
KINDS: Final = ("tools", "prompts", "resources", "templates")
_NAMED_BY: Final = {"resources": "uri", "templates": "uriTemplate"}


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


def _about(info: Mapping[str, Any]) -> dict[str, str]:
    texts = {key: info.get(key) for key in ("name", "title", "version")}
    return {
        key: visible(value[:LONGEST_NAME]) for key, value in texts.items() if isinstance(value, str)
    }


def _names(kind: str, definitions: Iterable[Mapping[str, Any]]) -> list[str]:
    given = (one.get(_NAMED_BY.get(kind, "name")) for one in definitions)
    named = sorted(visible(name)[:LONGEST_NAME] for name in given if isinstance(name, str))
    return named[:MOST_NAMED]
