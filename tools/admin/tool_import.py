"""The page that imports tools from a file: shown first, saved when the operator says so."""

from __future__ import annotations

import base64
import zlib
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from typing_extensions import override
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from tools.admin.json_fields import MONOSPACE
from tools.admin.texts import plural
from tools.admin.upstream_diff import shown
from tools.conf import ConfigurationFault
from tools.services.apply_config import read_document
from tools.services.tool_exchange import Plan, Planned, State, carry_out, plan_tools
from tools.upstreams.matching import Budget

LARGEST: Final = 2_000_000
TOO_LARGE: Final = "The file is larger than 2 MB. Export fewer tools at once."
COLOURS: Final = {
    State.NEW: "success",
    State.CHANGED: "warning",
    State.REFUSED: "danger",
}


class ImportForm(forms.Form):
    """A document as a file, or pasted."""

    file = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="YAML as an export or manage.py export_config writes it; 2 MB at most.",
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
        file, text = cleaned.get("file"), cleaned.get("pasted", "")
        if file is not None:
            if file.size > LARGEST:
                raise forms.ValidationError(TOO_LARGE)
            try:
                text = file.read().decode("utf-8-sig")
            except UnicodeDecodeError as fault:
                told = "The file is not text in UTF-8. Save it as UTF-8."
                raise forms.ValidationError(told) from fault
        if not text.strip():
            raise forms.ValidationError("Choose a file, or paste its text.")
        if len(text) > LARGEST:
            raise forms.ValidationError(TOO_LARGE)
        return {**cleaned, "text": text.replace("\r\n", "\n")}


def import_page(admin: Any, request: HttpRequest) -> HttpResponse:
    """Take a document, show what it would do, and do it when told to."""
    if request.method == "POST" and "save" in request.POST:
        return _save(admin, request)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*sent)
    plan = None
    if form.is_valid():
        try:
            plan = plan_tools(read_document(form.cleaned_data["text"]))
        except ConfigurationFault as fault:
            for one in fault.faults:
                form.add_error(None, one)
    return _page(admin, request, form, plan)


def _page(admin: Any, request: HttpRequest, form: ImportForm, plan: Plan | None) -> HttpResponse:
    context = {
        **admin.admin_site.each_context(request),
        "title": "Import tools",
        "opts": admin.opts,
        "form": form,
        "largest": LARGEST,
        "plan": plan,
    }
    if plan is not None:
        changing, budget = plan.of(State.NEW, State.CHANGED), Budget()
        context |= {
            "rows": [_row(one, budget) for one in plan.tools if one.state != State.SAME],
            "same": [one.name for one in plan.of(State.SAME)],
            "counts": [(state, len(plan.of(state))) for state in State],
            "changing": len(changing),
            "kept": pack(form.cleaned_data["text"]),
        }
    return render(request, "tools/admin/tool_import.html", context)


def _row(one: Planned, budget: Budget) -> dict[str, Any]:
    return {
        "one": one,
        "colour": COLOURS[one.state],
        "takes": one.state in {State.NEW, State.CHANGED},
        "differences": shown(one.differences, budget),
    }


def _save(admin: Any, request: HttpRequest) -> HttpResponse:
    """Save what was shown, if it is still what would be saved."""
    text = unpack(request.POST.get("kept", ""))
    chosen = set(request.POST.getlist("chosen"))
    if text is None or not chosen:
        told = "Choose at least one tool." if text else "Choose the file again."
        admin.message_user(request, told, messages.WARNING)
        return redirect("admin:tools_tool_import_tools")
    try:
        document = read_document(text)
        plan = carry_out(document, chosen, request.POST.get("digest", "") or "none")
    except ConfigurationFault as fault:
        for line in fault.faults:
            admin.message_user(request, f"Nothing was saved: {line}", messages.ERROR)
        return redirect("admin:tools_tool_import_tools")
    done = [one for one in plan.of(State.NEW, State.CHANGED) if one.name in chosen]
    for one in done:
        new = one.state == State.NEW
        (admin.log_addition if new else admin.log_change)(request, one.row, "Imported.")
    added = sum(one.state == State.NEW for one in done)
    told = f"{plural(added, 'tool')} added, {len(done) - added} changed."
    admin.message_user(request, told, messages.SUCCESS)
    return redirect("admin:tools_tool_changelist")


def pack(text: str) -> str:
    """`text` small enough to travel with the page that asks."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"))).decode()


def unpack(kept: str, largest: int = LARGEST) -> str | None:
    """What was packed; None for anything else, or what would be too large."""
    reader = zlib.decompressobj()
    try:
        packed = base64.b64decode(kept, validate=True)
        # A character has four bytes at most.
        found = reader.decompress(packed, 4 * largest)
        text = found.decode("utf-8", "surrogatepass")
    except (ValueError, zlib.error):
        return None
    return text if reader.eof and len(text) <= largest else None
