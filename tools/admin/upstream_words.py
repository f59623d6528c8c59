"""How pages name and colour the states of MCP servers, count their offers and lead to them."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Count, F, Q
from django.urls import reverse

from tools.models import ItemState
from tools.upstreams import ConnectionState

STATE_COLOURS: Final = {
    ConnectionState.CONNECTED: "success",
    ConnectionState.DEGRADED: "warning",
    ConnectionState.CONNECTING: "info",
    ConnectionState.FAILED: "danger",
}
STATE_WORDS: Final = {ConnectionState.NOT_CONFIGURED: "not connected yet"}
# How many rows of a server's offers are in each state, for a query set.
_TOOL: Final = Q(items__kind="tool")
_OPEN: Final = ~Q(items__offered_hash=F("items__rejected_hash"))
COUNTS: Final = {
    "served": Count(
        "items", filter=_TOOL & Q(items__state=ItemState.APPROVED, items__tool__enabled=True)
    ),
    "waiting": Count("items", filter=_TOOL & Q(items__state=ItemState.WAITING)),
    "quarantined": Count("items", filter=_TOOL & Q(items__state=ItemState.CHANGED)),
    "undecided": Count(
        "items",
        filter=Q(items__state__in=(ItemState.WAITING, ItemState.CHANGED)) & _OPEN,
    ),
}


def state_word(state: ConnectionState) -> str:
    """A state as people read it."""
    return STATE_WORDS.get(state, state.value.replace("_", " "))


def items_address(server: Any, **query: str) -> str:
    """The offers of a server."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"{reverse('admin:tools_upstreamitem_changelist')}?server__id__exact={server.pk}{more}"
