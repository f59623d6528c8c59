"""Columns of the list of MCP servers, and what their pages say without a form."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from tools.admin.breakers import COLOURS as BREAKER_COLOURS
from tools.admin.texts import badge, moment, red
from tools.admin.upstream_page import STATE_COLOURS, items_address, state_word
from tools.models.upstream_rules import address_warning
from tools.upstreams import ConnectionState
from tools.vault import VaultFault

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
LONGEST_WARNING: Final = 60


class ServerColumns:
    """For the ModelAdmin of MCP servers; rows of the list carry their `status`."""

    @admin.display(description="Reached by", ordering="transport")
    def reached(self, server: Any) -> SafeString:
        way = server.command or server.url
        warning = address_warning(server.transport, server.url)
        return format_html(
            '<span style="overflow-wrap: anywhere">{} {}</span>{}',
            server.transport.replace("_", " "),
            Truncator(way).chars(LONGEST_WARNING),
            format_html("<br>{}", red(warning)) if warning else "",
        )

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
        text = format_html(LINK, items_address(server, kind__exact="tool"), held)
        for count, word, state in (
            (server.waiting, "waiting", "waiting"),
            (server.quarantined, "quarantined", "changed"),
        ):
            if count:
                address = items_address(server, kind__exact="tool", state__exact=state)
                text = format_html("{}, {}", text, format_html(LINK, address, f"{count} {word}"))
        return text

    @admin.display(description="Breaker")
    def breaker(self, server: Any) -> SafeString | str:
        if server.status is None:
            return "-"
        found = server.status.breaker
        return badge(found.state.value, BREAKER_COLOURS[found.state])

    @admin.display(description="Last discovery", ordering="discovered_at")
    def discovered(self, server: Any) -> SafeString | str:
        last = server.last_discovery
        if not last:
            return "never"
        faults = [last["message"]] if not last.get("ok") else last.get("warnings", [])
        if not faults:
            return moment(server.discovered_at)
        more = f" (+{len(faults) - 1})" if len(faults) > 1 else ""
        told = red(Truncator(faults[0]).chars(LONGEST_WARNING) + more)
        return format_html("{}<br>{}", moment(server.discovered_at), told)

    @admin.display(description="Stored headers")
    def headers_kept(self, server: Any) -> SafeString | str:
        return _kept(server.header_names)

    @admin.display(description="Stored variables")
    def environment_kept(self, server: Any) -> SafeString | str:
        return _kept(server.environment_names)


def _kept(names: Any) -> SafeString | str:
    try:
        found = names()
    except VaultFault as fault:
        return red(f"{fault}.")
    return f"{', '.join(found)} (values are encrypted)" if found else "none"
