"""What is said where somebody asks for calls that are too old to be in the log."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from tools.admin.texts import plural
from tools.conf import deployment
from tools.services.prune_journal import kept_since

# A stretch as long as calls are kept began a moment ago.
_MARGIN: Final = timedelta(minutes=1)


def kept_for(since: datetime) -> str:
    """How long calls are kept, if not all since then are in the log any more; empty if they are."""
    if since >= kept_since() - _MARGIN:
        return ""
    days = deployment().journal_retention_days
    return f"Calls are kept in the log for {plural(days, 'day')}"
