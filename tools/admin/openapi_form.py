"""The form that takes an OpenAPI document, and what the page shows of one before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import forms
from typing_extensions import override
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from tools.admin.json_fields import MONOSPACE
from tools.admin.upstream_diff import shown
from tools.services.fetch_document import FetchFault, fetch_document
from tools.services.import_openapi import Preview
from tools.upstreams.differences import differences
from tools.upstreams.matching import Budget

LARGEST_BYTES: Final = 20 << 20
MOST_ARGUMENTS: Final = 8
# Schemas are compared argument by argument under the names that MCP has for them.
COMPARED: Final = {
    "input_schema": "inputSchema",
    "output_schema": "outputSchema",
    "operation": "request",
    "read_only": "read-only",
}


class ImportForm(forms.Form):
    """A document as a file, from an address, or pasted."""

    def __init__(self, *args: Any, networks: Sequence[str] = ()) -> None:
        super().__init__(*args)
        self._networks = tuple(networks)

    file = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="OpenAPI 3 or Swagger 2, JSON or YAML.",
    )
    address = forms.CharField(
        label="Or where it is",
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextInputWidget,
        help_text="An http or https address. Private ones must be in the networks of this API.",
    )
    pasted = forms.CharField(
        label="Or paste it here",
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(
            attrs={"rows": 12, "style": MONOSPACE, "spellcheck": "false"}
        ),
    )

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        file, pasted = cleaned.get("file"), cleaned.get("pasted", "")
        if file is not None and file.size > LARGEST_BYTES:
            raise forms.ValidationError("The document is larger than 20 MB.")
        address = cleaned.get("address", "").strip()
        if file is not None:
            found = file.read()
        elif address:
            found = self._fetched(address)
        elif pasted.strip():
            found = pasted.encode("utf-8", "surrogatepass")
        else:
            raise forms.ValidationError("Choose a file, name an address, or paste a document.")
        # A database cannot keep NUL characters; no document has any.
        return {**cleaned, "text": found.decode("utf-8", "replace").replace("\0", "\ufffd")}

    def _fetched(self, address: str) -> bytes:
        try:
            return fetch_document(address, self._networks)
        except FetchFault as fault:
            raise forms.ValidationError(str(fault)) from fault


def shown_preview(found: Preview, before: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows: a row for each operation, and why others are left out.

    `before` is what the last import gave, by operation.
    """
    added, changed = set(found.changes.added), _changed(found)
    fields, budget = {change.key: change.fields for change in found.changes.changed}, Budget()
    rows = [
        {
            "key": one.key,
            "name": found.names.get(one.key, one.name),
            "title": one.title or one.description.partition("\n")[0],
            "state": "new" if one.key in added else "changed" if one.key in changed else "same",
            "note": changed.get(one.key, ""),
            "renamed": one.name if _renamed(found, before, one.key, one.name) else "",
            "collides": found.collisions.get(one.key, ""),
            "warnings": one.warnings,
            "arguments": _arguments(one.input_schema),
            "differences": shown(
                differences(
                    _named(before.get(one.key, {}), fields.get(one.key, ())),
                    _named(one.to_json(), fields.get(one.key, ())),
                ),
                budget,
            ),
        }
        for one in found.imported.operations
    ]
    return {
        "about": found.imported,
        "rows": rows,
        "refused": found.imported.refused,
        "removed": found.changes.removed,
    }


def _renamed(found: Preview, before: Mapping[str, Any], key: str, name: str) -> bool:
    """Whether the document has another name than at the last import for a tool that is there."""
    return key in found.names and before.get(key, {}).get("name", name) != name


def _named(operation: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """These fields of an operation, under the names that are compared part by part."""
    return {COMPARED.get(name, name): operation.get(name) for name in fields}


def _arguments(schema: Mapping[str, Any]) -> str:
    """The names of what a tool takes; those it needs with a star."""
    needed = schema.get("required") or ()
    names = [f"{name}*" if name in needed else name for name in schema.get("properties") or ()]
    more = len(names) - MOST_ARGUMENTS
    return ", ".join(names[:MOST_ARGUMENTS]) + (f" and {more} more" if more > 0 else "")


def _changed(found: Preview) -> Mapping[str, str]:
    return {
        change.key: ", ".join(change.fields)
        + (f"; breaks callers: {', '.join(change.notes)}" if change.breaks else "")
        for change in found.changes.changed
    }
