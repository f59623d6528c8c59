"""What the page of an MCP server shows beside its form: connections, the last look, its offers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Count, F, Q
from django.urls import reverse

from tools.admin.breakers import COLOURS as BREAKER_COLOURS
from tools.admin.texts import moment, plural
from tools.models import ItemState, UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.services.ask_upstream import Asked, Purpose, read_asked
from tools.services.upstream_status import ProcessReport, RedisDown, upstream_status
from tools.upstreams import ConnectionState

STATE_COLOURS: Final = {
    ConnectionState.CONNECTED: "success",
    ConnectionState.DEGRADED: "warning",
    ConnectionState.CONNECTING: "info",
    ConnectionState.FAILED: "danger",
}
STATE_WORDS: Final = {ConnectionState.NOT_CONFIGURED: "not connected yet"}
# What a refresh came to: words for the page, by the words of the report.
CHANGES: Final = (
    ("added", "Added"),
    ("waiting", "New, wait for approval"),
    ("changed", "Changed, quarantined"),
    ("gone", "No longer offered"),
    ("back", "As approved again"),
)
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


def server_page(server: UpstreamServer, *, may_change: bool) -> dict[str, Any]:
    """The context of the page."""
    shown: dict[str, Any] = {
        "server": server,
        "may_change": may_change,
        "address_warning": address_warning(server.transport, server.url),
        "offers_address": items_address(server),
        "undecided_address": items_address(server, decision="open"),
        "last": server.last_discovery,
        "last_at": _moment(server.last_discovery.get("at")),
        "redis_down": False,
        "last_counts": _counted(server.last_discovery.get("counts", {})),
    }
    try:
        status = upstream_status([server])[server.pk]
        asked = read_asked(server.pk)
    except RedisDown:
        return {**shown, "redis_down": True}
    return {
        **shown,
        "state": state_word(status.state),
        "state_colour": STATE_COLOURS.get(status.state, ""),
        "breaker": status.breaker,
        "breaker_colour": BREAKER_COLOURS[status.breaker.state],
        "reports": [
            {
                "told": one,
                "state": state_word(one.lifecycle),
                "colour": STATE_COLOURS.get(one.lifecycle, ""),
                "figures": _figures(one),
            }
            for one in status.reports
        ],
        "asked": None if asked is None else _asked(asked),
    }


def _figures(report: ProcessReport) -> tuple[tuple[str, Any], ...]:
    seconds, pid = report.initialization_time, report.process_handle
    return (
        ("Since", moment(report.since)),
        ("Connected in", f"{seconds:.3f} s" if seconds else "-"),
        ("Last sign of life", moment(report.last_health_check)),
        ("Protocol", report.protocol_version or "-"),
        ("Tools", report.tools),
        ("Program's pid", "-" if pid is None else pid),
    )


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [plural(count, kind.removesuffix("s")) for kind, count in counts.items()]


def _asked(asked: Asked) -> dict[str, Any]:
    found = asked.found
    return {
        "one": asked,
        "title": "Refresh of its tools" if asked.purpose is Purpose.REFRESH else "Connection test",
        "at": datetime.fromtimestamp(asked.at, UTC),
        "changes": [
            (title, found["changes"][word]) for word, title in CHANGES if found["changes"][word]
        ]
        if "changes" in found
        else None,
        "offered": [
            (plural(count, kind.removesuffix("s")), found["names"][kind], count)
            for kind, count in found["counts"].items()
        ]
        if found
        else [],
    }


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
