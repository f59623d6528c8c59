"""SIGHUP: read the configuration again without dropping a connection."""

from __future__ import annotations

import logging

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from tools.conf import ServiceSettings
from tools.execution.runtime import CatalogueWatcher, current

logger = logging.getLogger(__name__)


async def reload_configuration() -> None:
    """Apply CONFIG_FILE, if there is one, and serve from what is configured now.

    A file that cannot be used changes nothing and is reported in the log.
    """
    runtime = current()
    before = runtime.settings
    try:
        await sync_to_async(_apply_file, thread_sensitive=False)()
        await CatalogueWatcher(runtime).reload()
    except (CommandError, ValueError, DatabaseError) as fault:
        logger.error("The configuration stays as it was: %s", fault)
        return
    _warn_about_restart(before, runtime.settings)
    logger.info("The configuration was read again")


def _apply_file() -> None:
    path = settings.ENVIRONMENT.config_file
    if path:
        try:
            call_command("apply_config", path, verbosity=0)
        finally:
            connection.close()


def _warn_about_restart(before: ServiceSettings, after: ServiceSettings) -> None:
    for name in ("service_host", "service_port", "server_workers"):
        if getattr(before, name) != getattr(after, name):
            logger.warning(
                "%s changed; it takes effect at the next start", name.replace("_", ".", 1)
            )
