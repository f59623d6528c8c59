"""Where the pages are on which tools are tried."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from tools.admin.try_it.page import PERMISSION, CancelView, ChooseView, ProgressView, TryView

MAY_TRY = PERMISSION


def try_it_urls(model_admin: Any) -> list[URLPattern]:
    """Below the addresses of tools."""
    pages = (
        ("try/", ChooseView, "choose"),
        ("<int:pk>/try/", TryView, "try"),
        ("<int:pk>/try/<uuid:trial>/", TryView, "trial"),
        ("<int:pk>/try/<uuid:trial>/progress/", ProgressView, "progress"),
        ("<int:pk>/try/<uuid:trial>/cancel/", CancelView, "cancel"),
    )
    guard = model_admin.admin_site.admin_view
    return [
        path(where, guard(view.as_view(model_admin=model_admin)), name=f"tools_tool_{name}")
        for where, view, name in pages
    ]
