"""Journal events into rows, whatever is in them: one bad event never keeps the others back."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import DataError, IntegrityError

from tools.models import ApiClient, ToolRequest
from tools.models.journal_events import parse_time

logger = logging.getLogger(__name__)

UNFIT: Final = (DataError, IntegrityError, KeyError, TypeError, ValueError, AttributeError)
# What a caller or a tool decides the contents of; the rest of an event is our own.
CONTENTS: Final[Mapping[str, Any]] = {
    "parameters": "{}",
    "query_text": "",
    "error": "",
    "body": None,
    "correlation_id": "",
    "thread_id": "",
}


def write_events(texts: Sequence[str]) -> list[str]:
    """Write a batch of events; those no database would take as they are, are returned.

    The call of such an event still gets its row, without the contents that were refused.

    Raises:
        DatabaseError: the database cannot be used now; nothing was written.
    """
    try:
        events = [orjson.loads(text) for text in texts]
        ToolRequest.objects.apply(events)
        _note_use(events)
    except UNFIT as fault:
        if len(texts) > 1:
            return [refused for text in texts for refused in write_events([text])]
        logger.error("A journal event was refused: %s", type(fault).__name__)
        _write_bare(texts[0])
        return list(texts)
    return []


def read_spool(folder: Path) -> None:
    """Write what was spooled while neither Redis nor the database could be used."""
    for path in sorted(folder.glob("*.events")):
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            # Another process was faster.
            continue
        if refused := write_events(texts):
            path.with_suffix(".refused").write_text("\n".join(refused) + "\n", encoding="utf-8")
        path.unlink(missing_ok=True)


def _write_bare(text: str) -> None:
    try:
        ToolRequest.objects.apply([{**orjson.loads(text), **CONTENTS}])
    except UNFIT:
        logger.exception("A journal event cannot be written at all")


def _note_use(events: Sequence[Mapping[str, Any]]) -> None:
    """Remember when each API client was last seen."""
    latest: dict[str, str] = {}
    for event in events:
        kind, _, key = str(event["caller"]).partition(":")
        if kind == "client":
            latest[key] = max(latest.get(key, ""), event["received_at"])
    for key, seen in latest.items():
        # Not through the announcing manager: being used does not change the catalogue.
        ApiClient._base_manager.filter(pk=key).update(last_used_at=parse_time(seen))
