"""What the page of an MCP server shows beside its form: connections, the last look, its offers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from tools.admin.breakers import COLOURS as BREAKER_COLOURS
from tools.admin.texts import moment, plural
from tools.admin.upstream_words import STATE_COLOURS, items_address, state_word
from tools.models import UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.services.ask_upstream import Asked, Purpose, read_asked
from tools.services.upstream_status import ProcessReport, RedisDown, upstream_status

# What a refresh came to: words for the page, by the words of the report.
CHANGES: Final = (
    ("added", "Added"),
    ("waiting", "New, wait for approval"),
    ("changed", "Changed, quarantined"),
    ("gone", "No longer offered"),
    ("back", "As approved again"),
)


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
