"""The whole catalogue as one frozen value: what is offered, who may see it, the settings in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch

from tools.conf import ServiceSettings
from tools.contracts import (
    Caller,
    CallerKind,
    HeldSpec,
    PromptSpec,
    ResourceSpec,
    ToolsetSpec,
    ToolSpec,
)
from tools.models import ApiClient, CatalogState, Prompt, Resource, Tool, Toolset
from tools.selectors.service import service_settings
from tools.selectors.specs import prompt_specs, resource_specs, tool_specs
from tools.selectors.upstreams import enabled_upstreams, held_back
from tools.upstreams import Upstream


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One version of the catalogue. `flawed` names rows left out and why.

    Tools and prompts are keyed by name, resources by address, toolsets and upstream servers by slug,
    callers by the hash of their key; `breakers` has threshold and recovery time in seconds by the
    name of the breaker. `leaving` has callers by the hash of a key that still works for a while, with the
    time it ends. `held` has what is quarantined, by kind of row and name or address.
    """

    version: int = 0
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    prompts: Mapping[str, PromptSpec] = field(default_factory=dict)
    resources: Mapping[str, ResourceSpec] = field(default_factory=dict)
    toolsets: Mapping[str, ToolsetSpec] = field(default_factory=dict)
    callers: Mapping[str, Caller] = field(default_factory=dict)
    leaving: Mapping[str, tuple[Caller, float]] = field(default_factory=dict)
    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    breakers: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    flawed: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[tuple[str, str], HeldSpec] = field(default_factory=dict)


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
    servers, breakers = enabled_upstreams()
    tools, flawed_tools = tool_specs(servers)
    callers, leaving = _callers(settings)
    prompts, flawed_prompts = prompt_specs(servers)
    resources, flawed_resources = resource_specs(servers)
    return Catalogue(
        version=version,
        settings=settings,
        tools=tools,
        prompts=prompts,
        resources=resources,
        toolsets=_toolsets(tools, prompts, resources),
        callers=callers,
        leaving=leaving,
        upstreams={server.slug: server for server in servers.values()},
        breakers=breakers,
        held=held_back(),
        flawed={**flawed_resources, **flawed_prompts, **flawed_tools},
    )


def _toolsets(
    tools: Mapping[str, ToolSpec],
    prompts: Mapping[str, PromptSpec],
    resources: Mapping[str, ResourceSpec],
) -> dict[str, ToolsetSpec]:
    """The sets by slug. One that includes all holds everything there is; none holds what is off."""
    return {
        row.slug: ToolsetSpec(
            slug=row.slug,
            title=row.title,
            description=row.description,
            tools=_held(row, [tool.name for tool in row.tools.all()], tools),
            prompts=_held(row, [prompt.name for prompt in row.prompts.all()], prompts),
            resources=_held(row, [item.uri for item in row.resources.all()], resources),
            search_only=row.search_only,
            oauth_scope=row.oauth_scope,
        )
        for row in Toolset.objects.prefetch_related(*_members())
    }


def _held(row: Any, members: list[str], served: Mapping[str, Any]) -> frozenset[str]:
    everything = frozenset(served)
    return everything if row.includes_all else everything.intersection(members)


def _members() -> list[Prefetch[str]]:
    """What the sets hold, without the parts that may be large."""
    return [
        Prefetch("tools", Tool.objects.only("name")),
        Prefetch("prompts", Prompt.objects.only("name")),
        Prefetch("resources", Resource.objects.only("uri")),
    ]


def _callers(
    settings: ServiceSettings,
) -> tuple[dict[str, Caller], dict[str, tuple[Caller, float]]]:
    rows = ApiClient.objects.filter(enabled=True).prefetch_related("toolsets")
    callers: dict[str, Caller] = {}
    leaving: dict[str, tuple[Caller, float]] = {}
    for row in rows:
        caller = callers[row.key_hash] = Caller(
            kind=CallerKind.API_KEY,
            identifier=f"client:{row.pk}",
            name=row.name,
            rate_per_minute=row.rate_limit_per_minute or settings.security_rate_limit,
            toolsets=frozenset(toolset.slug for toolset in row.toolsets.all()),
            manages_corpora=row.manages_corpora,
        )
        if row.previous_key_hash and row.previous_key_until:
            leaving[row.previous_key_hash] = caller, row.previous_key_until.timestamp()
    return callers, leaving
