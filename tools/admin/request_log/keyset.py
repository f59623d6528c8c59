"""A list that is read a page at a time from a place on, never by number."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import override
from unfold.views import ChangeList

from tools.selectors.request_log import Cursor, Page


class KeysetChangeList(ChangeList):
    """Latest first, always. Those who fill it set `shown`."""

    shown: Page

    @override
    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Any]:
        self.filter_specs: list[Any] = []
        self.has_filters = self.has_active_filters = False
        rows: QuerySet[Any] = self.root_queryset
        return rows

    def show(self) -> None:
        """Let the theme list what was read, without counting or numbering pages."""
        self.result_list = self.shown.rows
        self.result_count = self.full_result_count = len(self.shown.rows)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = None

    @abstractmethod
    def address(self, *, without: str = "", **place: Cursor | None) -> str:
        """This list from another place on, or with one filter less."""

    @property
    def newest_address(self) -> str:
        return self.address()

    @property
    def newer_address(self) -> str:
        return self.address(after=self.shown.newer) if self.shown.newer else ""

    @property
    def older_address(self) -> str:
        return self.address(before=self.shown.older) if self.shown.older else ""
