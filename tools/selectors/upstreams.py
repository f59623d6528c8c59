"""Upstream servers as values, and what the rows of the catalogue that come from them are bound to."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q

from tools.contracts import HeldSpec
from tools.models import ItemState, Toolset, UpstreamItem, UpstreamServer
from tools.upstreams import Upstream

logger = logging.getLogger(__name__)

# Read with each row of the catalogue, without the definitions, which only operators look at.
ITEM: Final = "upstream_item"
ROWS: Final = ("tool", "prompt", "resource")
ITEM_REST: Final = tuple(
    f"{ITEM}__{name}" for name in ("approved", "offered", "metadata", "findings", "problem")
)
# What is kept here, or was approved of a server that is switched on.
SERVED: Final = Q(upstream_item__isnull=True) | Q(
    upstream_item__state=ItemState.APPROVED, upstream_item__server__enabled=True
)


def enabled_upstreams() -> tuple[dict[int, Upstream], dict[str, tuple[int, float]]]:
    """The servers that are switched on, by key; and threshold and recovery time of their breakers."""
    servers: dict[int, Upstream] = {}
    breakers: dict[str, tuple[int, float]] = {}
    for row in UpstreamServer.objects.filter(enabled=True).order_by("slug"):
        try:
            server = row.to_value()
        except (TypeError, ValueError) as fault:
            logger.error("MCP server %r is left out of the catalogue: %s", row.slug, fault)
            continue
        servers[row.pk] = server
        breakers[server.dependency] = (row.failure_threshold, float(row.recovery_timeout))
    return servers, breakers


def held_back() -> dict[tuple[str, str], HeldSpec]:
    """What is quarantined because its server has changed it, by kind of row and name or address."""
    rows = UpstreamItem.objects.filter(state=ItemState.CHANGED, server__enabled=True)
    rows = rows.select_related("server").defer(*(name.partition("__")[2] for name in ITEM_REST))
    items = list(rows.prefetch_related(*(f"{kind}__toolsets" for kind in ROWS)))
    if not items:
        return {}
    whole = frozenset(Toolset.objects.filter(includes_all=True).values_list("slug", flat=True))
    held = {}
    for item in items:
        for kind in ROWS:
            row: Any = getattr(item, kind)
            if row is not None and row.enabled:
                sets = whole.union(toolset.slug for toolset in row.toolsets.all())
                known_by = row.uri if kind == "resource" else row.name
                held[kind, known_by] = HeldSpec(str(item.server), sets)
    return held


def upstream_binding(row: Any, servers: Mapping[int, Upstream]) -> dict[str, Any]:
    """What the backend needs to ask a server for this row; empty when it comes from none.

    Raises:
        ValueError: the server was left out of the catalogue.
    """
    item = getattr(row, ITEM, None)
    if item is None:
        return {}
    server = servers.get(item.server_id)
    if server is None:
        raise ValueError("its MCP server cannot be used")
    return {
        "server": server,
        "remote_name": item.remote_name,
        "fingerprint": item.approved_hash,
    }
