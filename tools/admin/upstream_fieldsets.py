"""The fields of the page of an MCP server, and who sees which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tools.upstreams import UpstreamTransport

# What only programs on this machine have, and what only servers behind an address have.
LOCAL: Final = (
    *("command", "memory_mb"),
    *("environment_kept", "new_environment", "forget_environment"),
)
REMOTE: Final = ("url", "allowed_networks", "headers_kept", "new_headers", "forget_headers")
FIELDSETS: Final = (
    (None, {"fields": ("slug", "display_name", "description", "prefix", "enabled")}),
    (
        "How it is reached",
        {"fields": ("transport", "command", "memory_mb", "url", "allowed_networks", "era")},
    ),
    (
        "Secrets",
        {
            "fields": (
                *("headers_kept", "new_headers", "forget_headers"),
                *("environment_kept", "new_environment", "forget_environment"),
            )
        },
    ),
    (
        "Times",
        {
            "fields": (
                *("connect_timeout", "call_timeout", "retries"),
                *("connect_at_start", "idle_seconds"),
            )
        },
    ),
    (
        "When it fails",
        {"fields": ("failure_threshold", "recovery_timeout", "unavailable_message")},
    ),
    ("What it newly offers", {"fields": ("new_items",)}),
    ("Saved", {"fields": ("created", "updated")}),
)


def fields_to_add() -> list[Any]:
    """A server that is being added was never saved, and has no secrets yet."""
    return _without(lambda name: name.endswith(("_kept", "created", "updated")))


def fields_to_read(transport: str) -> list[Any]:
    """Who may only look sees what the transport has a use for, and nothing that is for writing."""
    other = REMOTE if transport == UpstreamTransport.STDIO else LOCAL
    written = ("new_headers", "new_environment", "forget_")
    return _without(lambda name: name in other or name.startswith(written))


def _without(left_out: Callable[[str], bool]) -> list[Any]:
    """The fieldsets without some fields, and without those that have none then."""
    kept = [
        (title, [name for name in options["fields"] if not left_out(name)])
        for title, options in FIELDSETS
    ]
    return [(title, {"fields": names}) for title, names in kept if names]
