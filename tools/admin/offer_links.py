"""Rows of the catalogue that come from MCP servers: where their definition is decided on."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tools.models import UpstreamItem
from tools.upstreams.characters import visible

# Read with each row of a list; the definitions themselves are large.
OFFER = "upstream_item__server"
UNREAD = tuple(f"upstream_item__{name}" for name in ("approved", "offered", "metadata", "findings"))


def offer_of(row: Any) -> UpstreamItem | None:
    """What a server offers that `row` stands for, if it comes from one."""
    found: UpstreamItem | None = getattr(row, "upstream_item", None)
    return found


def offer_link(row: Any) -> SafeString:
    """The way to the server and to its offer."""
    found = offer_of(row)
    if found is None:
        return format_html("{}", "-")
    return format_html(
        '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>, as its '
        '<a class="text-primary-600 dark:text-primary-500" href="{}">offer {}</a> says.',
        reverse("admin:tools_upstreamserver_change", args=[found.server_id]),
        found.server,
        reverse("admin:tools_upstreamitem_change", args=[found.pk]),
        visible(found.remote_name),
    )
