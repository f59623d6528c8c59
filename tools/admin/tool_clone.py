"""A new tool that begins as a copy of another."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from unfold.widgets import UnfoldAdminTextInputWidget

from tools.admin.tool_owners import operation_of
from tools.contracts import ToolSource
from tools.models import ApiOperation, Tool
from tools.services.clone_operation import clone_operation
from tools.services.tool_exchange import owner_of

# Under so long a name there is room for what marks it as a copy.
LONGEST_NAME: Final = 59
# A copy is looked at before anybody can call it.
OFF: Final = {"enabled": False}
INSTEAD: Final[dict[str, str]] = {
    ToolSource.PIPELINE: "Add a pipeline of another technique instead: it brings its tool along.",
    ToolSource.UPSTREAM: "Add the server once more under another slug instead: its tools come "
    "along, and are named after it.",
}


class CloneForm(forms.Form):
    """What agents call the copy; everything else is changed on its page."""

    name = forms.CharField(
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text="What agents call the copy. It is switched off until you have looked at it.",
    )


def clone_page(admin: Any, request: HttpRequest, tool: Any) -> HttpResponse:
    """The way to a copy of `tool`, or why there is none."""
    operation = operation_of(tool)
    if operation is not None:
        return _operation_page(admin, request, operation)
    if owner := owner_of(tool):
        told = f"This tool belongs to the {owner}, and cannot be cloned by itself."
        messages.error(request, f"{told} {INSTEAD.get(tool.source, '')}".rstrip())
        return redirect(reverse("admin:tools_tool_change", args=[tool.pk]))
    return redirect(f"{reverse('admin:tools_tool_add')}?{urlencode({'clone': tool.pk})}")


def values_to_clone(number: str) -> dict[str, Any]:
    """What the form is filled in with; nothing when there is no such tool."""
    tool = Tool.objects.filter(pk=number).first() if number.isdecimal() else None
    if tool is None:
        return {}
    return {**model_to_dict(tool), **OFF, "name": copy_name(tool)}


def copy_name(tool: Tool) -> str:
    return f"{tool.name[:LONGEST_NAME]}_copy"


def _operation_page(admin: Any, request: HttpRequest, operation: ApiOperation) -> HttpResponse:
    """Ask for a name, then copy the operation with its tool."""
    if not request.user.has_perm("tools.add_apioperation"):
        raise PermissionDenied
    tool = operation.tool
    asked = request.POST if request.method == "POST" else None
    form = CloneForm(asked, initial={"name": copy_name(tool)})
    if form.is_valid() and (made := _cloned(form, operation)) is not None:
        admin.log_addition(request, made.tool, f"Cloned from {tool}.")
        told = f"{made.tool} was added as a copy of {tool}. It is switched off."
        messages.success(request, told)
        return redirect(reverse("admin:tools_tool_change", args=[made.tool_id]))
    context = {
        **admin.admin_site.each_context(request),
        "title": f"Clone {tool}",
        "opts": admin.opts,
        "form": form,
        "operation": operation,
    }
    return render(request, "tools/admin/tool_clone.html", context)


def _cloned(form: CloneForm, operation: ApiOperation) -> ApiOperation | None:
    """The copy; None when it cannot be, which the form says."""
    try:
        return clone_operation(operation, form.cleaned_data["name"])
    except ValidationError as fault:
        for field, told in fault.message_dict.items():
            form.add_error(field if field in form.fields else None, told)
        return None
