"""How the values of a call look, in the list and on its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from django.utils.text import Truncator

from tools.admin.request_log import addresses
from tools.admin.request_log.fields import is_findable
from tools.admin.texts import badge, moment, unbroken
from tools.contracts import Transport
from tools.errors import ErrorCode
from tools.models import ToolRequest

STATE_COLOURS: Final = {"completed": "success", "failed": "danger", "executing": "info"}
# A state that says nothing beside the status.
SAME: Final = frozenset({("completed", "success"), ("failed", "failure")})
STATUS_COLOURS: Final = {"success": "success", "failure": "danger", "timeout": "warning"}
# The page of the call has the rest.
LONGEST_ERROR: Final = 120
# The address of the list with one filter more: its name, and the value.
Only = Callable[[str, str], str]
_CODES: Final = frozenset(code.value for code in ErrorCode)
_TRANSPORTS: Final = frozenset(one.value for one in Transport)
CACHE_WORDS: Final = {True: "hit", False: "miss", None: "-"}


def line(row: ToolRequest, names: Mapping[str, str], only: Only) -> dict[str, Any]:
    """A call in the list; `names` are those of API clients."""
    return {
        "address": addresses.one(row.pk),
        "only": {name: only(field, value) for name, field, value in _narrowing(row)},
        "received": moment(row.received_at),
        # The tool itself may be gone or may never have been.
        "tool": row.tool_id or "(no name)",
        "status": ended_badge(row),
        "state": "" if not row.status or (row.state, row.status) in SAME else row.state,
        "code": row.code or "-",
        "error": Truncator(row.error).chars(LONGEST_ERROR),
        "duration": duration(row),
        "cache": CACHE_WORDS[row.cache_hit],
        "caller": shown_caller(row, names),
        "transport": row.transport,
    }


def _narrowing(row: ToolRequest) -> Iterator[tuple[str, str, str]]:
    """What the list can be narrowed to: the cell, its filter and the value, where the filter knows it."""
    if is_findable(row.tool_id):
        yield "tool", "tool__exact", row.tool_id
    if row.code in _CODES:
        yield "code", "code__exact", row.code
    if is_findable(row.caller):
        yield "caller", "caller__exact", row.caller
    if row.transport in _TRANSPORTS:
        yield "transport", "transport__exact", row.transport


def ending(row: ToolRequest, names: Mapping[str, str]) -> dict[str, str]:
    """What is said first on the page of a call: how it ended, if it did, and whose it is."""
    return {"status": ended_badge(row), "caller": shown_caller(row, names)}


def ended_badge(row: ToolRequest) -> str:
    """How a call ended; how far it has come while it has not."""
    return status_badge(row) if row.status else state_badge(row)


def state_badge(row: ToolRequest) -> str:
    return badge(row.state, STATE_COLOURS.get(row.state, ""))


def status_badge(row: ToolRequest) -> str:
    return badge(row.status, STATUS_COLOURS.get(row.status, "")) if row.status else "-"


def duration(row: ToolRequest) -> str:
    return "-" if row.duration_ms is None else unbroken(f"{row.duration_ms:,.1f} ms")


def shown_caller(row: ToolRequest, names: Mapping[str, str]) -> str:
    return named(row.caller, names)


def named(caller: str, names: Mapping[str, str]) -> str:
    """A caller with the name that people know it by, where it has one."""
    name = names.get(caller)
    return f"{name} ({caller})" if name else caller
