"""JSON that is being typed, checked by the rules of saving. The page asks, the service judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.core.exceptions import FieldDoesNotExist, PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from tools.admin.schema_table import shown_example, shown_table
from tools.services.check_schema import Checked, Told, check_text, check_tool_schema

REQUIRED: Final = "This field is required."


class JsonCheck:
    """For a ModelAdmin: an address that says what is wrong with the text of a JSON field."""

    # Fields of the form that are schemas of a tool, and the field of the tool that each becomes.
    schema_rules: ClassVar[Mapping[str, str]] = {}

    @property
    def check_address(self) -> str:
        return reverse(f"admin:{self._url_name}")

    @property
    def _url_name(self) -> str:
        options = self.opts  # type: ignore[attr-defined]
        return f"{options.app_label}_{options.model_name}_check_json"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.check_json))  # type: ignore[attr-defined]
        inherited: list[URLPattern] = super().get_urls()  # type: ignore[misc]
        return [path("check-json/", view, name=self._url_name), *inherited]

    def check_json(self, request: HttpRequest) -> HttpResponse:
        """What is wrong with `text` as the value of the field `name`, and how it would look."""
        may_change = self.has_change_permission(request)  # type: ignore[attr-defined]
        if not may_change and not self.has_add_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        name = request.POST.get("name", "")
        field = self.get_form(request).base_fields.get(name)  # type: ignore[attr-defined]
        if field is None or "data-json-check" not in field.widget.attrs:
            raise Http404
        # Forms send the line ends of another age.
        text = request.POST.get("text", "").replace("\r\n", "\n")
        checked = self._checked(name, text, required=field.required)
        answer = {
            "sound": checked.sound,
            "told": [_shown(one) for one in checked.told],
            "preview": self._preview(name, checked),
        }
        if "format" in request.POST and text.strip():
            answer["formatted"] = _formatted(text)
        return JsonResponse(answer)

    def _checked(self, name: str, text: str, *, required: bool) -> Checked:
        if not text.strip():
            return Checked([Told(REQUIRED)] if required else [], sound=not required)
        if name in self.schema_rules:
            return check_tool_schema(text, self.schema_rules[name])
        return check_text(text, lambda value: self._field_faults(name, value))

    def _field_faults(self, name: str, value: Any) -> list[str]:
        """What the field of the model has against `value`, by itself."""
        try:
            field = self.model._meta.get_field(name)  # type: ignore[attr-defined]
            if value not in field.empty_values:
                field.clean(value, None)
        except FieldDoesNotExist:
            return []
        except ValidationError as fault:
            return list(fault.messages)
        return []

    def _preview(self, name: str, checked: Checked) -> str:
        if name not in self.schema_rules or checked.value is None:
            return ""
        arguments = self.schema_rules[name] == "input_schema"
        context = {
            "table": shown_table(checked.value),
            "example": shown_example(checked.value) if arguments else "",
        }
        return str(render_to_string("tools/admin/schema_preview.html", context))


def _shown(one: Told) -> dict[str, Any]:
    place = one.place
    return {
        "message": one.message,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "pointer": one.pointer,
        "grave": one.grave,
    }


def _formatted(text: str) -> str | None:
    """`text` indented, as Python reads it: a browser would round long numbers."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
