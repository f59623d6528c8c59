"""The side bar of the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

# Group, then title, icon, app and model of each entry, its page if that is not the list, and what
# one must be allowed to do with the model if that is not to view it.
PLAN = (
    (
        "Catalogue",
        (
            ("Tools", "build", "tools", "tool"),
            ("Try it", "play_circle", "tools", "tool", "choose", "change"),
            ("Prompts", "chat", "tools", "prompt"),
            ("Resources", "article", "tools", "resource"),
            ("Toolsets", "inventory_2", "tools", "toolset"),
            ("Cache", "cached", "tools", "tool", "cache"),
        ),
    ),
    (
        "HTTP APIs",
        (
            ("HTTP APIs", "public", "tools", "apiservice"),
            ("Operations", "http", "tools", "apioperation"),
        ),
    ),
    (
        "MCP servers",
        (
            ("Servers", "dns", "tools", "upstreamserver"),
            ("Offers", "rule", "tools", "upstreamitem"),
            ("Breakers", "electrical_services", "tools", "upstreamserver", "breakers"),
        ),
    ),
    (
        "Knowledge",
        (
            ("Pipelines", "account_tree", "tools", "pipelineconfig"),
            ("Compare", "compare_arrows", "tools", "pipelineconfig", "compare"),
            ("Corpora", "library_books", "tools", "corpus"),
            ("Documents", "draft", "tools", "document"),
            ("Passages", "segment", "tools", "chunk"),
            ("Index versions", "layers", "tools", "indexversion"),
            ("Question sets", "quiz", "tools", "questionset"),
            ("Evaluations", "query_stats", "tools", "evaluationrun", "evaluate"),
        ),
    ),
    (
        "Request log",
        (
            ("Calls", "receipt_long", "tools", "toolrequest"),
            ("Answers", "description", "tools", "toolresponse"),
            ("Success criteria", "target", "tools", "toolrequest", "criteria"),
        ),
    ),
    (
        "Health",
        (
            ("Now", "monitor_heart", "health", "healthsnapshot", "now"),
            ("History", "history", "health", "healthsnapshot"),
            ("Changes", "swap_horiz", "health", "statuschange"),
            ("Objectives", "flag", "health", "servicelevelobjective"),
            ("Webhooks", "webhook", "health", "healthwebhook"),
            ("Deliveries", "outgoing_mail", "health", "webhookdelivery"),
            ("Schedule", "schedule", "django_celery_beat", "periodictask"),
        ),
    ),
    (
        "Access",
        (
            ("API clients", "key", "tools", "apiclient"),
            ("Connect a client", "cable", "tools", "apiclient", "connect"),
            ("Users", "person", "auth", "user"),
            ("Groups", "group", "auth", "group"),
            ("Failed log-ins", "lock", "axes", "accessattempt"),
            ("Audit trail", "manage_history", "tools", "auditentry"),
        ),
    ),
    (
        "Service",
        (
            ("Configuration", "settings", "tools", "serviceconfiguration"),
            ("Registry", "hub", "tools", "registeredservice"),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """What the person may look at, by area."""
    groups = [("Overview", [_dashboard()])]
    groups += [(title, _items(request, entries)) for title, entries in PLAN]
    groups[-1][1].append({"title": "API documentation", "icon": "api", "link": "/api/docs"})
    _mark_current(request.path, [item for _, items in groups for item in items])
    return [{"title": title, "items": items} for title, items in groups if items]


def _dashboard() -> dict[str, Any]:
    return {"title": "Dashboard", "icon": "dashboard", "link": reverse("admin:index")}


def _mark_current(path: str, items: list[dict[str, Any]]) -> None:
    """Mark one entry as the one being looked at: a page below another's address is not that other."""
    front = reverse("admin:index")
    near = [
        item["link"] for item in items if path.startswith(item["link"]) and item["link"] != front
    ]
    near = [front] if path == front else near
    for item in items:
        item["active"] = item["link"] == max(near, key=len, default=None)


def _items(request: HttpRequest, entries: Iterable[tuple[str, ...]]) -> list[dict[str, Any]]:
    items = []
    for title, icon, app, model, *page in entries:
        try:
            link = reverse(f"admin:{app}_{model}_{page[0] if page else 'changelist'}")
        except NoReverseMatch:
            continue
        needed = page[1] if len(page) > 1 else "view"
        if request.user.has_perm(f"{app}.{needed}_{model}"):
            items.append({"title": title, "icon": icon, "link": link})
    return items
