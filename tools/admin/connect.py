"""The page that tells what to paste into a client; the same text as `manage.py client_config`."""

from __future__ import annotations

import os
import sys
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin
from unfold.widgets import UnfoldAdminSelectWidget

from tools.conf import deployment
from tools.contracts import Transport
from tools.models import Toolset
from tools.selectors import service_settings
from tools.services.client_config import (
    CLIENTS,
    KEY_VARIABLE,
    ONE_WAY,
    TRANSPORTS,
    Connection,
    Launch,
    Setup,
    usual_transport,
)

LABELS = {
    Transport.STREAMABLE_HTTP: "Streamable HTTP",
    Transport.SSE: "HTTP + SSE (older clients)",
    Transport.STDIO: "stdio (a process on this machine)",
}
# A client that sends a key where none is asked for is counted by its name and sees its toolsets only.
KEY_CHOICES = (("send", "Send one"),)


class ChoiceForm(forms.Form):
    """What is to be reached, and how."""

    toolset = forms.ChoiceField(label="Tools", required=False, widget=UnfoldAdminSelectWidget)
    transport = forms.ChoiceField(label="Transport", required=False, widget=UnfoldAdminSelectWidget)
    key = forms.ChoiceField(label="Key", required=False, widget=UnfoldAdminSelectWidget)

    def __init__(self, data: Any, client: str) -> None:
        super().__init__(data)
        usual = LABELS[usual_transport(client)]
        self._offer("toolset", [("", "All that its key grants"), *_toolsets()])
        self._offer(
            "transport",
            [("", f"Usual: {usual}"), *((one.value, LABELS[one]) for one in TRANSPORTS)],
        )
        if client in ONE_WAY:
            del self.fields["transport"]
        asked = "asks for one" if _keys_required() else "asks for none"
        self._offer("key", [("", f"As the service says: it {asked}"), *KEY_CHOICES])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
        field.choices = choices


def _toolsets() -> list[tuple[str, str]]:
    rows = Toolset.objects.order_by("slug").values_list("slug", "title")
    return [(slug, f"{title} ({slug})" if title else slug) for slug, title in rows]


class ConnectView(UnfoldModelAdminViewMixin, TemplateView):
    """Clients side by side; the chosen one's text can be copied. Works without scripts but for that."""

    title = "Connect a client"
    permission_required = "tools.view_apiclient"
    template_name = "tools/admin/connect.html"
    request: HttpRequest

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        client = self.request.GET.get("client", "")
        if client not in CLIENTS:
            client = next(iter(CLIENTS))
        form = ChoiceForm(self.request.GET, client)
        connection = self._connection(client, form.cleaned_data if form.is_valid() else {})
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {
            **context,
            "client": client,
            "form": form,
            "tabs": self._tabs(connection, form),
            "setup": CLIENTS[client](connection),
            "connection": connection,
            "command_line": _command_line(client, connection),
            "key_variable": KEY_VARIABLE,
            "keys_required": _keys_required(),
            "sends_key": bool(connection.key_variable),
            "oauth": deployment().oauth is not None,
        }

    def _connection(self, client: str, chosen: dict[str, str]) -> Connection:
        transport = Transport(chosen.get("transport") or usual_transport(client))
        asked = _keys_required() and transport is not Transport.STDIO
        needs_key = asked or bool(chosen.get("key"))
        return Connection(
            service=service_settings().service_name,
            base_url=f"{self.request.scheme}://{self.request.get_host()}",
            transport=transport,
            toolset=chosen.get("toolset", ""),
            key_variable=KEY_VARIABLE if needs_key else "",
            launch=Launch.here(sys.executable, settings.BASE_DIR, os.environ),
        )

    def _tabs(self, connection: Connection, form: ChoiceForm) -> list[tuple[str, str, str]]:
        """Name, title and address of each client's page, the other choices kept."""
        kept = form.cleaned_data if form.is_valid() else {}
        tabs = []
        for name, write in CLIENTS.items():
            setup: Setup = write(connection)
            query = {"client": name, **{key: value for key, value in kept.items() if value}}
            tabs.append((name, setup.title, f"?{urlencode(query)}"))
        return tabs


def _command_line(client: str, connection: Connection) -> str:
    words = ["manage.py", "client_config", client]
    if connection.transport is not usual_transport(client):
        words += ["--transport", connection.transport.value]
    if connection.transport is not Transport.STDIO:
        words += ["--url", connection.base_url]
    if connection.toolset:
        words += ["--toolset", connection.toolset]
    return " ".join(words)


def _keys_required() -> bool:
    return service_settings().security_api_keys_enabled or deployment().oauth is not None
