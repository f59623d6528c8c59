"""The admin, whose pages are loaded by the processes that may show them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from typing_extensions import override


class AdminPagesConfig(SimpleAdminConfig):
    """Loads all pages, unless the process has no use for them and a client that waits for its start."""

    @override
    def ready(self) -> None:
        super().ready()
        if settings.SHOWS_PAGES:
            self.module.autodiscover()  # type: ignore[union-attr] # known once apps are ready
