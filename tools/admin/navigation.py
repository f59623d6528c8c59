"""The side bar of the admin."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

# Group, then title, icon, app and model of each entry.
PLAN = (
    (
        "Catalogue",
        (("Tools", "build", "tools", "tool"), ("Toolsets", "inventory_2", "tools", "toolset")),
    ),
    (
        "Request log",
        (
            ("Calls", "receipt_long", "tools", "toolrequest"),
            ("Answers", "description", "tools", "toolresponse"),
            ("Health", "monitor_heart", "health", "healthsnapshot"),
        ),
    ),
    (
        "Access",
        (
            ("API clients", "key", "tools", "apiclient"),
            ("Users", "person", "auth", "user"),
            ("Groups", "group", "auth", "group"),
        ),
    ),
    ("Service", (("Configuration", "settings", "tools", "serviceconfiguration"),)),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """What the person may look at, by area."""
    groups = [(title, _items(request, entries)) for title, entries in PLAN]
    groups[-1][1].append({"title": "API documentation", "icon": "api", "link": "/api/docs"})
    return [{"title": title, "items": items} for title, items in groups if items]


def _items(
    request: HttpRequest, entries: tuple[tuple[str, str, str, str], ...]
) -> list[dict[str, Any]]:
    items = []
    for title, icon, app, model in entries:
        try:
            link = reverse(f"admin:{app}_{model}_changelist")
        except NoReverseMatch:
            continue
        if request.user.has_perm(f"{app}.view_{model}"):
            items.append({"title": title, "icon": icon, "link": link})
    return items
