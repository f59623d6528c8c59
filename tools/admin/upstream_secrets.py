"""Secrets of MCP servers in the admin: their names are shown, their values only ever go in."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.widgets import UnfoldAdminTextareaWidget

from tools.admin.json_fields import MONOSPACE
from tools.admin.texts import red
from tools.vault import VaultFault

STAYS: Final = "Kept encrypted and never shown again. Empty: what is stored stays."


class WriteOnlyTextarea(UnfoldAdminTextareaWidget):
    """Takes secrets and shows none, not even those just typed when something else was wrong."""

    def __init__(self, example: str) -> None:
        super().__init__(
            {
                "style": MONOSPACE,
                "rows": 3,
                "spellcheck": "false",
                "autocomplete": "off",
                "placeholder": example,
            }
        )

    @override
    def format_value(self, value: Any) -> str:
        return ""


class NamedTexts(forms.CharField):
    """Lines of a name and a value each, as a mapping."""

    def __init__(self, separator: str, example: str, label: str, text: str) -> None:
        super().__init__(
            label=label,
            required=False,
            strip=False,
            widget=WriteOnlyTextarea(example),
            help_text=f"{text} {STAYS}",
        )
        self._separator = separator

    @override
    def clean(self, value: Any) -> dict[str, str]:
        """Raises ValidationError, without a word of what was typed but the names."""
        found: dict[str, str] = {}
        for number, line in enumerate((value or "").splitlines(), 1):
            if not line.strip():
                continue
            name, between, text = line.partition(self._separator)
            if not between:
                raise ValidationError(f"Line {number} has no {self._separator!r} after its name.")
            if name.strip() in found:
                raise ValidationError(f"{name.strip()} is there twice.")
            found[name.strip()] = text.strip()
        return found


class KeptSecrets:
    """For the ModelAdmin of MCP servers: which secrets are stored."""

    @admin.display(description="Stored headers")
    def headers_kept(self, server: Any) -> SafeString | str:
        return _kept(server.header_names)

    @admin.display(description="Stored variables")
    def environment_kept(self, server: Any) -> SafeString | str:
        return _kept(server.environment_names)


def _kept(names: Any) -> SafeString | str:
    try:
        found = names()
    except VaultFault as fault:
        return red(f"{fault}.")
    return f"{', '.join(found)} (values are encrypted)" if found else "none"
