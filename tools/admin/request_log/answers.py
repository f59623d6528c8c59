"""The kept answers: their list, and how one is shown."""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import Q
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from tools.admin.json_fields import panel, pretty
from tools.admin.request_log import addresses
from tools.admin.request_log.fields import Place, chosen, typed
from tools.admin.request_log.keyset import KeysetChangeList
from tools.models import ToolRequest, ToolResponse
from tools.selectors.request_log import Cursor, Page, Way, count, page

SEES_ANSWERS: Final = "tools.view_toolresponse"
UNSEEN: Final = (
    "Not shown: you may not see the answers of calls (permission: Can view tool response)."
)
WHOLE = (("0", "whole"), ("1", "the beginning"))


class AnswersForm(forms.Form):
    """What the list of answers can be narrowed by."""

    q = typed("Request id or call id", "whole")
    truncated__exact = chosen("Kept", WHOLE)
    before = Place()
    after = Place()

    def way(self) -> Way:
        """To the answers that a valid form asks for, without their bodies."""
        given = self.cleaned_data
        rows = ToolResponse.objects.annotate(characters=Length("body")).defer("body")
        rest = Q(truncated=given["truncated__exact"] == "1") if given["truncated__exact"] else None
        term = given["q"].strip()
        if not term:
            return Way(rows, rest)
        try:
            identifier = UUID(term)
        except ValueError:
            return Way(rows.none())
        # By the calls, which have an index for it.
        calls = ToolRequest.objects.filter(request_id=identifier).order_by()
        keys = [*calls.values_list("pk", flat=True)[:100], identifier]
        return Way(rows.filter(pk__in=keys), rest, few=True)


class AnswersChangeList(KeysetChangeList):
    """Latest first, a page at a time."""

    @override
    def get_results(self, request: HttpRequest) -> None:
        self.form = AnswersForm(request.GET)
        self.shown = Page(())
        self.counted = ""
        if self.form.is_valid():
            way, given = self.form.way(), self.form.cleaned_data
            self.shown = page(way, before=given["before"], after=given["after"])
            if self.shown.newest:
                number, complete = count(way, self.shown)
                self.counted = f"{number:,}{'' if complete else '+'} answers"
        self.show()

    @override
    def address(self, *, without: str = "", **place: Cursor | None) -> str:
        names = {"q", "truncated__exact"} - {without}
        kept = {name: self.form.data.get(name) for name in sorted(names)}
        told = {name: value for name, value in {**kept, **place}.items() if value}
        return f"?{urlencode(told)}"


def kept(row: ToolResponse) -> str:
    return "the beginning" if row.truncated else "whole"


def call_link(row: ToolResponse) -> SafeString:
    return format_html(
        '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
        addresses.one(row.pk),
        row.pk,
    )


def body(response: ToolResponse) -> SafeString:
    """The kept body, indented when it is whole."""
    try:
        text = pretty(json.loads(response.body))
    except ValueError:
        text = response.body
    if response.truncated:
        text += "\n… the rest was not kept"
    return panel(text)
