"""The form of an MCP server: its command comes from the deployment's list, its secrets never come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from typing_extensions import override
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanSwitchWidget

from tools.admin.guarded_form import GuardedForm
from tools.admin.kept_secrets import ORIGIN, same_origin, stays_behind
from tools.admin.upstream_secrets import NamedTexts
from tools.conf import deployment
from tools.models.upstream_rules import environment_faults, secret_header_faults
from tools.upstreams import UpstreamTransport

# What is kept under seal.
SECRETS: Final = ("headers", "environment")


def _forget(label: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, widget=UnfoldBooleanSwitchWidget)


class UpstreamServerForm(GuardedForm):
    """A server. What its transport has no use for is left out, so that nothing hidden is at fault."""

    also_written = SECRETS

    command = forms.ChoiceField(
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="Which of the commands that UPSTREAM_COMMANDS allows is run.",
    )
    new_headers = NamedTexts(
        ":",
        "Authorization: Bearer …",
        "Headers",
        "Sent with every request, one a line as Name: value. They replace all that are stored.",
    )
    forget_headers = _forget("Forget the stored headers")
    new_environment = NamedTexts(
        "=",
        "API_KEY=…",
        "Environment",
        "Variables of the program, one a line as NAME=value. They replace all that are stored.",
    )
    forget_environment = _forget("Forget the stored variables")

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get("command")
        if not isinstance(field, forms.ChoiceField):
            # Whoever may only look has no form to fill in.
            return
        allowed, stored = sorted(deployment().upstream_commands), self.instance.command
        listed = [("", "Choose one"), *((name, name) for name in allowed)]
        if stored and stored not in allowed:
            listed.append((stored, f"{stored} (no longer allowed, is not started)"))
        field.choices = listed
        if not allowed:
            field.help_text = "This deployment allows none; name some in UPSTREAM_COMMANDS."

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        local = cleaned.get("transport") == UpstreamTransport.STDIO
        cleaned["url" if local else "command"] = ""
        # What is missing, or is no address or command, has its own error.
        url, command = cleaned.get("url"), cleaned.get("command")
        if url and not same_origin(self.instance.url, url):
            self._leave_behind("headers", ORIGIN, cleaned)
        if command and self.instance.command != command:
            self._leave_behind("environment", "command", cleaned)
        if headers := cleaned.get("new_headers"):
            self._tell("new_headers", secret_header_faults(headers))
        if environment := cleaned.get("new_environment"):
            self._tell("new_environment", _variable_faults(cleaned.get("command"), environment))
        return cleaned

    def _leave_behind(self, name: str, place: str, cleaned: Mapping[str, Any]) -> None:
        """Ask for what is stored under `name`, unless it is replaced or forgotten."""
        settled = cleaned.get(f"new_{name}") or cleaned.get(f"forget_{name}")
        if getattr(self.instance, name) and not settled:
            forget = str(self.fields[f"forget_{name}"].label)
            self.add_error(f"new_{name}", stays_behind(forget, place))

    def _tell(self, field: str, faults: list[str]) -> None:
        if faults:
            self.add_error(field, ValidationError(faults))

    @override
    def save(self, commit: bool = True) -> Any:
        for name in SECRETS:
            keep = getattr(self.instance, f"set_{name}")
            if self.cleaned_data.get(f"forget_{name}"):
                keep({})
            if given := self.cleaned_data.get(f"new_{name}"):
                keep(given)
        return super().save(commit)


def _variable_faults(command: str | None, environment: Mapping[str, str]) -> list[str]:
    if faults := environment_faults(environment):
        return faults
    entry = deployment().upstream_commands.get(command or "", {})
    allowed = sorted(entry.get("environment", ()))
    listed = ", ".join(allowed) or "none"
    return [
        f"{name} cannot be given to this command; UPSTREAM_COMMANDS allows {listed}."
        for name in environment
        if name not in allowed
    ]
