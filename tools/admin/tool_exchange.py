"""Tools to files and back, from their list."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action

from tools.admin.tool_import import import_page
from tools.models import Tool
from tools.services.apply_config import to_yaml
from tools.services.tool_exchange import export_tools

MEDIA_TYPE: Final = "application/yaml; charset=utf-8"


class ToolExchange:
    """For the ModelAdmin of tools: export of those selected or of all, and import with a preview."""

    def has_import_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """A file may bring new tools and change old ones."""
        return request.user.has_perm("tools.add_tool") and request.user.has_perm(
            "tools.change_tool"
        )

    @admin.action(description="Export selected %(verbose_name_plural)s", permissions=["view"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Tool]) -> HttpResponse:
        return _file(Tool.objects.filter(pk__in=queryset.values("pk")))

    @action(description="Export all", permissions=["view"], url_path="export")  # type: ignore[untyped-decorator]
    def export_all(self, request: HttpRequest) -> HttpResponse:
        """Every tool as a file."""
        return _file(None)

    @action(description="Import", permissions=["import"], url_path="import")  # type: ignore[untyped-decorator]
    def import_tools(self, request: HttpRequest) -> HttpResponse:
        """The page that takes such a file."""
        return import_page(self, request)


def _file(rows: QuerySet[Tool] | None) -> HttpResponse:
    name = f"tools-{timezone.localtime():%Y-%m-%d}.yaml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(to_yaml(export_tools(rows)), content_type=MEDIA_TYPE, headers=headers)
