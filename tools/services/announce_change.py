"""Tells every process that the catalogue changed.

The number in the database is the truth and moves in the transaction of the change itself. After
the commit the same news goes to Redis, which processes look at several times a second. With Redis
away they compare the number in the database instead, so a change is late, never lost.
"""

from __future__ import annotations

import logging
from typing import Any

import redis
from django.db import transaction
from django.db.models import F
from django.db.models.signals import m2m_changed, post_delete, post_save

from tools.conf import deployment
from tools.guards.redis import CATALOGUE_KEY
from tools.models import (
    ApiClient,
    ApiOperation,
    ApiService,
    CatalogState,
    Corpus,
    PipelineConfig,
    Prompt,
    Resource,
    ServiceConfiguration,
    Tool,
    Toolset,
    UpstreamItem,
    UpstreamServer,
)
from tools.models.signals import rows_changed_in_bulk

logger = logging.getLogger(__name__)

ANNOUNCED = (
    Tool,
    Prompt,
    Resource,
    Toolset,
    ApiClient,
    ServiceConfiguration,
    Corpus,
    PipelineConfig,
    ApiService,
    ApiOperation,
    UpstreamServer,
    UpstreamItem,
)
MEMBERSHIPS = (
    Toolset.tools.through,
    Toolset.prompts.through,
    Toolset.resources.through,
    ApiClient.toolsets.through,
)


def connect_signals() -> None:
    """Announce every change of the announced models from now on."""
    for model in ANNOUNCED:
        post_save.connect(_changed, sender=model, dispatch_uid=f"announce-save-{model.__name__}")
        post_delete.connect(
            _changed, sender=model, dispatch_uid=f"announce-delete-{model.__name__}"
        )
    for through in MEMBERSHIPS:
        m2m_changed.connect(_changed, sender=through, dispatch_uid=f"announce-{through.__name__}")
    rows_changed_in_bulk.connect(_changed, dispatch_uid="announce-bulk")


def announce_change(using: str = "default") -> None:
    """Move the catalogue's number and, once committed, pass the news on."""
    state = CatalogState.objects.using(using)
    if not state.filter(pk=1).update(version=F("version") + 1):
        state.get_or_create(pk=1, defaults={"version": 1})
    # Once for all changes of a transaction: deleting a server changes a row for each of its tools.
    waiting = transaction.get_connection(using).run_on_commit
    if not any(function is _publish for _, function, *_ in waiting):
        transaction.on_commit(_publish, using=using)


def _changed(sender: Any, using: str = "default", **kwargs: Any) -> None:
    if not str(kwargs.get("action", "")).startswith("pre_"):
        announce_change(using)


def _publish() -> None:
    try:
        with redis.Redis.from_url(
            deployment().redis_url, socket_connect_timeout=0.5, socket_timeout=0.5
        ) as client:
            client.incr(CATALOGUE_KEY)
    except redis.RedisError as fault:
        logger.warning(
            "The change is announced through the database only: %s", type(fault).__name__
        )
