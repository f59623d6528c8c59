"""What lists and pages say of an offer of an MCP server."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from tools.admin.json_fields import panel, pretty
from tools.admin.switching import LONGEST_SHOWN
from tools.admin.texts import badge, moment, plural, red
from tools.models import ItemState, Prompt, Tool
from tools.upstreams.characters import visible

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
STATE_COLOURS: Final = {
    ItemState.APPROVED: "success",
    ItemState.WAITING: "info",
    ItemState.CHANGED: "danger",
    ItemState.GONE: "",
}
STATE_WORDS: Final = {
    ItemState.WAITING: "new, waits",
    ItemState.CHANGED: "quarantined",
    ItemState.GONE: "gone",
}


class ItemColumns:
    """For the ModelAdmin of offers."""

    @admin.display(description="Name there")
    def named(self, item: Any) -> SafeString:
        shown = Truncator(visible(item.remote_name)).chars(LONGEST_SHOWN)
        return format_html('<span style="overflow-wrap: anywhere">{}</span>', shown)

    @admin.display(description="What the server calls it")
    def name_shown(self, item: Any) -> str:
        return visible(item.remote_name)

    @admin.display(description="State")
    def state_badge(self, item: Any) -> SafeString:
        state = ItemState(item.state)
        word = STATE_WORDS.get(state, state.label.lower())
        if state in {ItemState.WAITING, ItemState.CHANGED} and not item.undecided:
            word = "rejected" if state == ItemState.WAITING else "quarantined, rejected"
        return badge(word, STATE_COLOURS[state])

    @admin.display(description="To look at")
    def looked_at(self, item: Any) -> SafeString | str:
        if item.problem:
            return red("cannot be used")
        return red(plural(len(item.findings), "finding")) if item.findings else "-"

    @admin.display(description="Name here")
    def known_as(self, item: Any) -> SafeString | str:
        row = item.row
        if row is None:
            return "-"
        name = row.name if isinstance(row, Tool | Prompt) else row.uri
        address = reverse(f"admin:tools_{row._meta.model_name}_change", args=[row.pk])
        return format_html(LINK, address, Truncator(name).chars(LONGEST_SHOWN))

    @admin.display(description="Problem")
    def problem_shown(self, item: Any) -> SafeString | str:
        return red(item.problem) if item.problem else "none"

    @admin.display(description="Approved")
    def approved_shown(self, item: Any) -> SafeString | str:
        return panel(visible(pretty(item.approved))) if item.approved_hash else "nothing yet"

    @admin.display(description="Beside it")
    def metadata_shown(self, item: Any) -> SafeString:
        return panel(visible(pretty(item.metadata)))

    @admin.display(description="Decided")
    def decided(self, item: Any) -> SafeString | str:
        if not item.decided_at:
            return "by nobody"
        return format_html("{} by {}", moment(item.decided_at), item.decided_by)

    @admin.display(description="First seen")
    def first(self, item: Any) -> SafeString | str:
        return moment(item.first_seen)

    @admin.display(description="Changed")
    def changed(self, item: Any) -> SafeString | str:
        return moment(item.changed_at)
