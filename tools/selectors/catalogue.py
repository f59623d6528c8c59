"""The whole catalogue as one frozen value: tools, who may see them, and the settings in force."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from tools.conf import ServiceSettings
from tools.contracts import Caller, CallerKind, ToolSource, ToolSpec
from tools.models import ApiClient, CatalogState, Tool, Toolset
from tools.selectors.service import service_settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One version of the catalogue. `flawed` names rows left out and why."""

    version: int = 0
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    toolsets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    callers: Mapping[str, Caller] = field(default_factory=dict)
    flawed: Mapping[str, str] = field(default_factory=dict)


def catalogue_version() -> int:
    """The number that grows with every change."""
    return CatalogState.objects.filter(pk=1).values_list("version", flat=True).first() or 0


def load_catalogue() -> Catalogue:
    """Everything the hot path needs. A bad row is left out and logged.

    The number is read first and not in one transaction with the rest, which on SQLite would take
    the write lock: a change that comes in between moves the number, and the next look reads anew.
    """
    version = catalogue_version()
    settings = service_settings()
    tools, flawed = _tools()
    return Catalogue(
        version=version,
        settings=settings,
        tools=tools,
        toolsets=_toolsets(tools),
        callers=_callers(settings),
        flawed=flawed,
    )


def _tools() -> tuple[dict[str, ToolSpec], dict[str, str]]:
    specs: dict[str, ToolSpec] = {}
    flawed: dict[str, str] = {}
    for row in Tool.objects.filter(enabled=True).order_by("name"):
        try:
            row.full_clean(validate_unique=False, validate_constraints=False)
            specs[row.name] = _spec(row)
        except (ValidationError, TypeError, ValueError) as fault:
            flawed[row.name] = "; ".join(getattr(fault, "messages", [str(fault)]))
            logger.error("Tool %r is left out of the catalogue: %s", row.name, flawed[row.name])
    return specs, flawed


def _spec(row: Any) -> ToolSpec:
    copied = (
        "name title description input_schema output_schema handler read_only destructive idempotent "
        "metadata timeout_seconds max_concurrent queue_timeout_seconds cache_ttl_seconds dependency "
        "requires_context_management token_budget keep_body"
    )
    values = {name: getattr(row, name) for name in copied.split()}
    return ToolSpec(
        **values,
        source=ToolSource(row.source),
        tags=tuple(row.tags),
        preserve_keys=tuple(row.preserve_keys),
    )


def _toolsets(tools: Mapping[str, ToolSpec]) -> dict[str, frozenset[str]]:
    everything = frozenset(tools)
    return {
        row.slug: everything
        if row.includes_all
        else frozenset(tool.name for tool in row.tools.all()) & everything
        for row in Toolset.objects.prefetch_related("tools")
    }


def _callers(settings: ServiceSettings) -> dict[str, Caller]:
    rows = ApiClient.objects.filter(enabled=True).prefetch_related("toolsets")
    return {
        row.key_hash: Caller(
            kind=CallerKind.API_KEY,
            identifier=f"client:{row.pk}",
            name=row.name,
            rate_per_minute=row.rate_limit_per_minute or settings.security_rate_limit,
            toolsets=frozenset(toolset.slug for toolset in row.toolsets.all()),
        )
        for row in rows
    }
