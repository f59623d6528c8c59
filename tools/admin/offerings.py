"""Prompts and resources in the admin."""

from __future__ import annotations

import base64
import mimetypes
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminFileFieldWidget

from tools.admin.conditions import when
from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonFieldsMixin, JsonTextarea
from tools.admin.offer_links import OFFER, UNREAD, offer_link
from tools.admin.switching import SwitchedRows
from tools.models import Prompt, Resource
from tools.services.tool_status import upstream_faults

FIRST_MESSAGE = [{"role": "user", "content": {"type": "text", "text": "Write about {topic}."}}]


# Kept here for what is local; a server is asked for it otherwise.
CONTENT = frozenset({"messages", "text", "blob", "file", "choices"})


def _without_content(fields: Any) -> tuple[str, ...]:
    return tuple(name for name in fields if name not in CONTENT)


class OfferingAdmin(SwitchedRows, JsonFieldsMixin, ModelAdmin):
    """What the pages of prompts and resources have in common."""

    form = GuardedForm
    list_per_page = 50
    actions = ("enable", "disable")
    readonly_fields = ("problems", "created", "updated")
    list_filter_submit = False
    warn_unsaved_form = True

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is being added has no state yet; what a server offers has no content here."""
        shown = super().get_fieldsets(request, obj)
        if obj is None:
            return [(title, options) for title, options in shown if title != "State"]
        if obj.is_local:
            return shown
        first, (title, state), *rest = shown
        return [
            first,
            (title, {"fields": ("offer", *state["fields"])}),
            *((name, {"fields": _without_content(options["fields"])}) for name, options in rest),
        ]

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What a server says of its offers is decided on, not written here."""
        if obj is None or obj.is_local:
            return (*self.readonly_fields, "offer")
        named = flatten_fieldsets(self.get_fieldsets(request, obj))
        return tuple(name for name in named if name != "enabled")

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).select_related(OFFER).defer(*UNREAD)
        return rows.prefetch_related("toolsets")

    @override
    def faults_of(self, row: Any) -> list[str]:
        of_server = [] if row.is_local else upstream_faults(row)
        return [*of_server, *row.problems()]

    @admin.display(description="MCP server")
    def offer(self, row: Any) -> SafeString:
        return offer_link(row)

    @admin.display(description="Toolsets")
    def sets(self, row: Any) -> str:
        return ", ".join(toolset.slug for toolset in row.toolsets.all()) or "-"


@admin.register(Prompt)
class PromptAdmin(OfferingAdmin):
    """Ready-made starts of conversations."""

    list_display = ("name", "title", "takes", "sets", "enabled", "problem", "updated")
    list_filter = ("enabled", "toolsets")
    search_fields = ("name", "title", "description")
    fieldsets = (
        (None, {"fields": ("name", "title", "description", "enabled")}),
        ("State", {"fields": ("problems", "created", "updated")}),
        ("What it asks and says", {"fields": ("arguments", "messages")}),
    )

    @override
    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = super().get_changeform_initial_data(request)
        example = {"arguments": [{"name": "topic", "required": True}], "messages": FIRST_MESSAGE}
        return {**example, **given}

    @admin.display(description="Arguments")
    def takes(self, prompt: Prompt) -> str:
        arguments = prompt.arguments if isinstance(prompt.arguments, list) else []
        named = [str(item.get("name")) for item in arguments if isinstance(item, dict)]
        return ", ".join(named) or "-"


class ContentTextarea(JsonTextarea):
    """A text to the letter: browsers leave out a line end at the start unless there are two."""

    @override
    def format_value(self, value: Any) -> str | None:
        text = super().format_value(value)
        return f"\n{text}" if text and text.startswith(("\n", "\r")) else text


class ResourceForm(GuardedForm):
    """A resource; a file that is chosen takes the place of its text or blob."""

    file = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="Becomes the text, or the blob if it is no text. At most 1 MiB.",
    )

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Content is kept to the letter, blanks at its ends included.
        text = self.fields.get("text")
        if isinstance(text, forms.CharField):
            text.strip = False
            text.widget = ContentTextarea()

    def clean_text(self) -> str:
        """What was typed; browsers send line ends of their own, which are no change."""
        typed = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        before: str = self.instance.text
        return before if typed == before.replace("\r\n", "\n") else typed

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        chosen = cleaned.get("file")
        if isinstance(chosen, UploadedFile):
            cleaned["text"], cleaned["blob"] = _body(chosen.read())
            kind, _ = mimetypes.guess_type(chosen.name or "")
            cleaned["mime_type"] = cleaned.get("mime_type") or kind or ""
        return cleaned


def _body(content: bytes) -> tuple[str, str]:
    """`content` as the text and the blob of a resource, one of them empty."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    return ("", base64.b64encode(content).decode()) if "\0" in text else (text, "")


@admin.register(Resource)
class ResourceAdmin(OfferingAdmin):
    """Texts and files that clients read by their address."""

    form = ResourceForm
    list_display = ("uri", "name", "kind", "bytes", "sets", "enabled", "problem", "updated")
    list_filter = ("enabled", "is_template", "mime_type", "toolsets")
    search_fields = ("uri", "name", "title", "description")
    fieldsets = (
        (None, {"fields": ("uri", "is_template", "name", "title", "description", "enabled")}),
        ("State", {"fields": ("problems", "created", "updated")}),
        ("Content", {"fields": ("mime_type", "text", "blob", "file")}),
        ("Hints for clients", {"fields": ("audience", "priority", "choices")}),
    )
    conditional_fields = {
        "blob": when("is_template", "== false"),
        "file": when("is_template", "== false"),
        "choices": when("is_template", "== true"),
    }

    @admin.display(description="Kind")
    def kind(self, resource: Resource) -> str:
        if resource.is_template:
            return "template"
        if not resource.is_local:
            return "elsewhere"
        return "blob" if resource.blob else "text"

    @admin.display(description="Size")
    def bytes(self, resource: Resource) -> str:
        return (
            "-" if not resource.is_local or resource.problems() else filesizeformat(resource.size)
        )
