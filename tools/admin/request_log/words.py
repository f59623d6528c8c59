"""How the values of a call look, in the list and on its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.admin.request_log import addresses
from tools.admin.texts import badge, moment, unbroken
from tools.models import ToolRequest

STATE_COLOURS: Final = {"completed": "success", "failed": "danger", "executing": "info"}
STATUS_COLOURS: Final = {"success": "success", "failure": "danger", "timeout": "warning"}
CACHE_WORDS: Final = {True: "hit", False: "miss", None: "-"}


def line(row: ToolRequest, names: Mapping[str, str]) -> dict[str, Any]:
    """A call in the list; `names` are those of API clients."""
    return {
        "address": addresses.one(row.pk),
        "received": moment(row.received_at),
        # The tool itself may be gone or may never have been.
        "tool": row.tool_id or "(no name)",
        "state": state_badge(row),
        "status": status_badge(row),
        "code": row.code or "-",
        "duration": duration(row),
        "cache": CACHE_WORDS[row.cache_hit],
        "caller": shown_caller(row, names),
        "transport": row.transport,
    }


def state_badge(row: ToolRequest) -> str:
    return badge(row.state, STATE_COLOURS.get(row.state, ""))


def status_badge(row: ToolRequest) -> str:
    return badge(row.status, STATUS_COLOURS.get(row.status, "")) if row.status else "-"


def duration(row: ToolRequest) -> str:
    return "-" if row.duration_ms is None else unbroken(f"{row.duration_ms:,.1f} ms")


def shown_caller(row: ToolRequest, names: Mapping[str, str]) -> str:
    name = names.get(row.caller)
    return f"{name} ({row.caller})" if name else str(row.caller)
