"""The admin, whose pages are loaded by the processes that may show them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Final

from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from typing_extensions import override

# The first callers of a web process go first.
REST_SECONDS: Final = 1.0


class AdminPagesConfig(SimpleAdminConfig):
    """Loads all pages at the start where that is no loss: others do with the addresses, or never."""

    @override
    def ready(self) -> None:
        super().ready()
        if settings.SHOWS_PAGES:
            self.module.autodiscover()  # type: ignore[union-attr] # known once apps are ready


def load_pages() -> None:
    """Load all of them, and let them count among what is never garbage."""
    import_module(settings.ROOT_URLCONF)
    # The interpreter was tuned before. Every full collection would walk all of them, and nothing else runs
    # meanwhile.
    gc.freeze()


@contextlib.asynccontextmanager
async def pages_soon() -> AsyncIterator[None]:
    """Load the pages beside the serving, so that whoever opens the first one need not wait for that."""
    # Nobody waits for it at a stop.
    loading = threading.Thread(target=load_pages, name="pages", daemon=True)
    begin = asyncio.get_running_loop().call_later(REST_SECONDS, loading.start)
    try:
        yield
    finally:
        begin.cancel()
