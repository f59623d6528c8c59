"""JSON in the admin: indented, in a fixed-width font, with faults by line and column."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.widgets import UnfoldAdminTextareaWidget

from tools.admin.json_check import JsonCheck
from tools.schemas.syntax import SyntaxFault, read_json

MONOSPACE = (
    "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px;"
)
FEWEST_ROWS = 3
MOST_ROWS = 24


class JsonTextarea(UnfoldAdminTextareaWidget):
    """As many lines as the value has, within reason. A script makes a small editor of it."""

    class Media:
        css: ClassVar[dict[str, tuple[str, ...]]] = {"all": ("tools/admin/schemas.css",)}
        js = ("tools/admin/json_editor.js",)

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"style": MONOSPACE, "spellcheck": "false", **(attrs or {})})

    @override
    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        lines = str(value or "").count("\n") + 2
        rows = min(MOST_ROWS, max(FEWEST_ROWS, lines))
        context: dict[str, Any] = super().get_context(name, value, {**(attrs or {}), "rows": rows})
        return context


class JsonField(forms.JSONField):
    """A JSON value as people read it; an empty text is the model's own empty value."""

    empty: Callable[[], Any] | None = None

    @override
    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return "" if value is None else pretty(value)

    @override
    def bound_data(self, data: Any, initial: Any) -> Any:
        # What was typed comes back as it was typed.
        return initial if self.disabled else InvalidJSONInput(data or "")

    @override
    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return self.empty() if self.empty else None
        try:
            return read_json(value)
        except SyntaxFault as fault:
            place = fault.place
            where = f" at line {place.line}, column {place.column}" if place else ""
            raise ValidationError(f"Not valid JSON{where}: {fault}", code="invalid") from fault


class JsonFieldsMixin(JsonCheck):
    """Gives a ModelAdmin's JSON fields the field and widget above, checked while somebody types."""

    formfield_overrides: Any = {models.JSONField: {"form_class": JsonField, "widget": JsonTextarea}}

    def formfield_for_dbfield(
        self, db_field: models.Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if isinstance(field, JsonField) and not db_field.null:
            field.empty = db_field.get_default
        return field

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """Tells the editors whom to ask."""
        form = super().get_form(request, obj, **kwargs)  # type: ignore[misc]
        for name, field in form.base_fields.items():
            if isinstance(field.widget, JsonTextarea):
                field.widget.attrs |= {
                    "data-json-check": self.check_address,
                    "data-json-name": name,
                }
        return form


def pretty(value: Any) -> str:
    """`value` as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def panel(text: str) -> SafeString:
    """`text` as it is, in a box that scrolls when the text is long or wide."""
    style = (
        MONOSPACE
        + " white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32rem; overflow: auto;"
    )
    return format_html('<pre style="{}" tabindex="0">{}</pre>', style, text)
