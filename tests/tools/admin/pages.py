"""The admin as a browser uses it: pages, forms with all their fields, actions."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.db import models
from django.test import Client
from django.urls import reverse
from typing_extensions import override


def address(model: type[models.Model], page: str, *arguments: Any) -> str:
    """Where `page` (changelist, add, change, ...) of `model` is."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def text(response: Any) -> str:
    """What a response, followed or not, has on its page."""
    return str(response.content.decode())


class _Form(HTMLParser):
    """What a browser would send if someone pressed save without touching anything."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, Any] = {}
        self._select: str | None = None
        self._textarea: str | None = None
        self._templates = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._templates += tag == "template"
        if not self._templates:
            self._take(tag, dict(attrs))

    def _take(self, tag: str, given: dict[str, str | None]) -> None:
        name = given.get("name") or ""
        if tag == "input" and name and given.get("type") not in {"submit", "button", "search"}:
            if given.get("type") not in {"checkbox", "radio"} or "checked" in given:
                ticked = given.get("type") == "checkbox"
                value = given.get("value") or ("on" if ticked else "")
                # A list has one of them for each of its rows.
                rows = name.startswith("rows:")
                self.values[name] = [*self.values.get(name, ()), value] if rows else value
        elif tag == "textarea" and name:
            self._textarea, self.values[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.values.setdefault(self._select, []).append(given.get("value"))

    @override
    def handle_endtag(self, tag: str) -> None:
        self._templates -= tag == "template"
        if tag == "textarea" and self._textarea:
            # Browsers leave out a line end right after the tag.
            shown = self.values[self._textarea]
            self.values[self._textarea] = shown.removeprefix("\r\n").removeprefix("\n")
            self._textarea = None
            return
        if tag == "select":
            self._select = None

    @override
    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.values[self._textarea] += data


def untouched(client: Client, url: str) -> dict[str, Any]:
    """The fields of the form at `url` with the values it shows."""
    return filled_in(client.get(url))


def filled_in(page: Any) -> dict[str, Any]:
    """The fields of the form on `page` with the values it shows."""
    form = _Form()
    form.feed(text(page))
    return {name: value for name, value in form.values.items() if name != "action"}


def submit(client: Client, url: str, /, **changes: Any) -> Any:
    """Save the form at `url` with `changes`; what it shows otherwise stays. None unticks a box."""
    values = untouched(client, url) | changes
    data = {name: value for name, value in values.items() if value is not None}
    return client.post(url, data | {"_save": "Save"}, follow=True)


def act(client: Client, model: type[models.Model], action: str, *rows: models.Model) -> Any:
    """Run `action` on `rows` from the list."""
    # "post" is what the page that asks whether to delete adds.
    data = {"action": action, "_selected_action": [row.pk for row in rows], "post": "yes"}
    return client.post(address(model, "changelist"), data, follow=True)
