"""Columns of the list of MCP servers, and what their pages say without a form."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from tools.admin.breakers import COLOURS as BREAKER_COLOURS
from tools.admin.texts import badge, moment, red, unbroken
from tools.admin.upstream_words import STATE_COLOURS, items_address, state_word
from tools.models.upstream_rules import address_warning
from tools.upstreams import ConnectionState, UpstreamTransport

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
# Long words break later, and a row on a phone has two lines.
LONGEST_PROBLEM: Final = 50
WAYS: Final = {
    UpstreamTransport.STDIO: "stdio",
    UpstreamTransport.STREAMABLE_HTTP: "HTTP",
    UpstreamTransport.SSE: "HTTP+SSE",
    UpstreamTransport.WEBSOCKET: "WebSocket",
}


class ServerColumns:
    """For the ModelAdmin of MCP servers; rows of the list carry their `status`."""

    @admin.display(description="Name", ordering="slug")
    def named(self, server: Any) -> SafeString:
        if not server.display_name:
            return unbroken(server.slug)
        return format_html("<span>{} ({})</span>", server.display_name, server.slug)

    @admin.display(description="Way", ordering="transport")
    def reached(self, server: Any) -> SafeString:
        return unbroken(WAYS[UpstreamTransport(server.transport)])

    @admin.display(description="State", ordering="enabled")
    def state(self, server: Any) -> SafeString:
        if not server.enabled:
            return badge("off", "warning")
        if server.status is None:
            return badge("not known: no Redis", "warning")
        found: ConnectionState = server.status.state
        return badge(state_word(found), STATE_COLOURS.get(found, ""))

    @admin.display(description="Tools")
    def tools_held(self, server: Any) -> SafeString:
        held = f"{server.served if server.enabled else 0} served"
        parts = [(items_address(server, kind__exact="tool"), held)]
        for count, word, state in (
            (server.waiting, "waiting", "waiting"),
            (server.quarantined, "quarantined", "changed"),
        ):
            if count:
                address = items_address(server, kind__exact="tool", state__exact=state)
                parts.append((address, f"{count} {word}"))
        # One element, because lists on phones put a gap between several.
        return format_html("<span>{}</span>", format_html_join(", ", LINK, parts))

    @admin.display(description="Breaker")
    def breaker(self, server: Any) -> SafeString | str:
        if server.status is None:
            return "-"
        found = server.status.breaker
        return badge(found.state.value, BREAKER_COLOURS[found.state])

    @admin.display(description="Last discovery", ordering="discovered_at")
    def discovered(self, server: Any) -> SafeString | str:
        return moment(server.discovered_at) if server.discovered_at else "never"

    @admin.display(description="Problem")
    def problem(self, server: Any) -> SafeString | str:
        """What an operator should know first, in two lines of a phone."""
        faults = _faults(server)
        if not faults:
            return "-"
        more = f" (+{len(faults) - 1})" if len(faults) > 1 else ""
        told = red(Truncator(faults[0]).chars(LONGEST_PROBLEM) + more)
        return format_html('<span style="overflow-wrap: anywhere">{}</span>', told)


def _faults(server: Any) -> list[str]:
    """Of the connections, of the address, and of the last discovery."""
    last, status = server.last_discovery, server.status
    reports = () if status is None or not server.enabled else status.reports
    faults = [report.error for report in reports if report.error]
    if status is not None and status.breaker.state != "CLOSED":
        faults.append(f"Its breaker is {status.breaker.state.value}")
    if last and not last.get("ok"):
        faults.append(last["message"])
    faults += [address_warning(server.transport, server.url), *last.get("warnings", [])]
    return list(dict.fromkeys(filter(None, faults)))
