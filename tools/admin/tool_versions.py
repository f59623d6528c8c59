"""Versions of a tool in the admin: each change of its definition, compared, and gone back to."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.audit_changes import compared
from tools.models import Tool, ToolVersion
from tools.models.audit import ActorKind
from tools.services.tool_documents import without_secrets
from tools.services.tool_versions import (
    NoVersion,
    Outdated,
    definition_of,
    differing,
    latest_number,
    revert_tool,
    revertible,
)

MOST_SHOWN: Final = 100
LEFT: Final = "Stays as it is: what manages this tool sets it."
OUTDATED: Final = "The tool has changed since this page was shown. Look at what is there now."


class VersionedTools(ModelAdmin):
    """For the ModelAdmin of tools: the way to their versions."""

    @override
    def get_urls(self) -> list[URLPattern]:
        pages = (
            ("<int:pk>/versions/", VersionsView, "tools_tool_versions"),
            ("<int:pk>/versions/<int:number>/revert/", RevertView, "tools_tool_revert"),
        )
        own = [
            path(route, self.admin_site.admin_view(view.as_view(model_admin=self)), name=name)
            for route, view, name in pages
        ]
        return [*own, *super().get_urls()]

    def has_versions_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(self.has_view_permission(request))

    @action(description="Versions", permissions=["versions"])  # type: ignore[untyped-decorator]
    def versions(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Every change of the tool's definition."""
        return redirect(reverse("admin:tools_tool_versions", args=[object_id]))


class _ToolPage(UnfoldModelAdminViewMixin, TemplateView):
    """A page about the versions of one tool."""

    permission_required = "tools.view_tool"
    request: HttpRequest

    @property
    def tool(self) -> Tool:
        """The tool it is about; raises Http404."""
        found: Tool | None = Tool.objects.filter(pk=self.kwargs["pk"]).first()
        if found is None:
            raise Http404
        return found

    def left(self, tool: Tool) -> set[str]:
        """The fields that the operator does not set, but what manages the tool."""
        managed = self.model_admin.get_readonly_fields(self.request, tool)
        return {*definition_of(tool)} & {*managed}


class VersionsView(_ToolPage):
    """The versions, newest first, and two of them compared."""

    title = "Versions"
    template_name = "tools/admin/tool_versions.html"

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        tool = self.tool
        kept = ToolVersion.objects.filter(tool=tool)
        rows = kept.defer("definition")
        if (before := _number(self.request, "before")) is not None:
            rows = rows.filter(number__lt=before)
        shown = list(rows[: MOST_SHOWN + 1])
        newest = shown[0].number if shown and before is None else latest_number(tool.pk)
        more = shown[MOST_SHOWN - 1].number if len(shown) > MOST_SHOWN else None
        first, second = _chosen(self.request, newest)
        return {
            **context,
            "title": f"Versions of {tool.name}",
            "tool": tool,
            "versions": [_told(one) for one in shown[:MOST_SHOWN]],
            "newest": newest,
            "older_than": more,
            "first": first,
            "second": second,
            "changes": self._changes(tool, first, second),
            "may_change": self.model_admin.has_change_permission(self.request, tool),
        }

    def _changes(self, tool: Tool, first: int | None, second: int | None) -> Any:
        """What differs between the two that were chosen; None when none were."""
        asked = {"first", "second"} & {*self.request.GET}
        found = ToolVersion.objects.filter(tool=tool, number__in=(first or 0, second or 0))
        kept = {one.number: one.definition for one in found}
        if not asked or first not in kept or second not in kept:
            return None
        old, new = kept[first], kept[second]
        return compared(without_secrets(old), without_secrets(new), differing(old, new))


class RevertView(_ToolPage):
    """What going back to a version would change, and going back."""

    title = "Revert"
    template_name = "tools/admin/tool_revert.html"

    def post(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Make the tool what it was."""
        tool = self.tool
        if not self.model_admin.has_change_permission(request, tool):
            raise PermissionDenied
        versions = redirect("admin:tools_tool_versions", pk)
        try:
            seen = int(request.POST.get("seen", ""))
            tool = revert_tool(pk, number, seen=seen, left=self.left(tool))
        except NoVersion as fault:
            raise Http404 from fault
        except (Outdated, ValueError):
            messages.error(request, OUTDATED)
            return redirect("admin:tools_tool_revert", pk, number)
        except ValidationError as fault:
            messages.error(request, f"Nothing was changed. {_faults(fault)}")
            return redirect("admin:tools_tool_revert", pk, number)
        if latest_number(pk) == seen:
            messages.info(request, f"The tool is as it was in version {number} already.")
        else:
            self.model_admin.log_change(request, tool, f"Reverted to version {number}.")
            messages.success(request, f"{tool.name} is again what it was in version {number}.")
        return versions

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        tool, number = self.tool, self.kwargs["number"]
        version = ToolVersion.objects.filter(tool=tool, number=number).first()
        if version is None:
            raise Http404
        left = self.left(tool)
        now = definition_of(tool)
        then = {**now, **revertible(version.definition, ())}
        names = differing(now, then)
        return {
            **context,
            "title": f"Revert {tool.name} to version {number}",
            "tool": tool,
            "version": _told(version),
            "seen": latest_number(tool.pk),
            "changes": compared(
                without_secrets(now), without_secrets(then), names, dict.fromkeys(left, LEFT)
            ),
            "left": sorted(name.replace("_", " ") for name in left),
            "something": bool({*names} - left),
            "may_change": self.model_admin.has_change_permission(self.request, tool),
        }


def _told(version: ToolVersion) -> dict[str, Any]:
    label = dict(ActorKind.choices).get(version.actor_kind, "")
    who = version.actor if version.actor_kind == ActorKind.PERSON else f"{label} {version.actor}"
    return {
        "number": version.number,
        "at": version.at if version.actor_kind else None,
        "who": who.strip() or "-",
        "fields": version.fields.replace("_", " "),
        "note": version.note,
    }


def _chosen(request: HttpRequest, newest: int) -> tuple[int | None, int | None]:
    """The two versions to compare: those that were asked for, else the newest and the one before."""
    first, second = _number(request, "first"), _number(request, "second")
    return first or max(1, newest - 1), second or newest


def _number(request: HttpRequest, name: str) -> int | None:
    given = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def _faults(fault: ValidationError) -> str:
    if not hasattr(fault, "error_dict"):
        return "; ".join(fault.messages)
    return "; ".join(
        f"{name.replace('_', ' ')}: {message}"
        for name, said in fault.message_dict.items()
        for message in said
    )
