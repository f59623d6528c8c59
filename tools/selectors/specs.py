"""Rows of the catalogue as the path needs them: each checked, a bad one left out and logged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError

from tools.contracts import (
    PromptArgument,
    PromptSpec,
    ResourceSpec,
    ToolSource,
    ToolSpec,
)
from tools.models import IndexVersion, Prompt, Resource, Tool
from tools.models.corpora import VersionState
from tools.models.tool_rules import ELSEWHERE, NO_OPERATION
from tools.offerings import template_variables
from tools.selectors.marks import definition_mark
from tools.selectors.upstreams import ITEM, ITEM_REST, SERVED, upstream_binding
from tools.upstreams import Upstream

logger = logging.getLogger(__name__)

Spec = TypeVar("Spec")
# Read with each tool, so that the catalogue takes one query however many pipelines there are.
PIPELINE_PARTS = (
    "pipeline_reference__corpus",
    "pipeline_reference__web_search_tool",
)
OPERATION_PARTS = ("api_operation__service",)


Servers = Mapping[int, Upstream]


def tool_specs(servers: Servers) -> tuple[dict[str, ToolSpec], dict[str, str]]:
    """The enabled tools by name, and what is wrong with those left out."""
    active = active_indexes()
    rows = _offered(Tool).exclude(api_operation__service__enabled=False)
    rows = rows.select_related(*PIPELINE_PARTS, *OPERATION_PARTS, ITEM)
    return _checked(rows, "name", lambda row: _tool(row, _binding(row, active, servers)))


def prompt_specs(servers: Servers) -> tuple[dict[str, PromptSpec], dict[str, str]]:
    """The enabled prompts by name, and what is wrong with those left out."""
    return _checked(_offered(Prompt), "name", lambda row: _prompt(row, servers))


def resource_specs(servers: Servers) -> tuple[dict[str, ResourceSpec], dict[str, str]]:
    """The enabled resources by address, and what is wrong with those left out."""
    return _checked(_offered(Resource), "uri", lambda row: _resource(row, servers))


def _offered(model: Any) -> Any:
    rows = model.objects.filter(SERVED, enabled=True).order_by()
    return rows.select_related(ITEM).defer(*ITEM_REST)


def _checked(
    rows: Iterable[Any], known_by: str, convert: Callable[[Any], Spec]
) -> tuple[dict[str, Spec], dict[str, str]]:
    specs: dict[str, Spec] = {}
    flawed: dict[str, str] = {}
    for row in rows:
        key = getattr(row, known_by)
        try:
            row.full_clean(validate_unique=False, validate_constraints=False)
            specs[key] = convert(row)
        except (ValidationError, AttributeError, TypeError, ValueError) as fault:
            flawed[key] = "; ".join(getattr(fault, "messages", [str(fault)]))
            kind = row._meta.verbose_name.capitalize()
            logger.error("%s %r is left out of the catalogue: %s", kind, key, flawed[key])
    # Databases sort in orders of their own; lists are paged in this one.
    return dict(sorted(specs.items())), flawed


def _tool(row: Any, binding: Mapping[str, Any]) -> ToolSpec:
    copied = (
        "name title description input_schema output_schema handler read_only destructive idempotent "
        "metadata timeout_seconds max_concurrent queue_timeout_seconds cache_ttl_seconds dependency "
        "requires_context_management token_budget keep_body long_running"
    )
    values = {name: getattr(row, name) for name in copied.split()}
    return ToolSpec(
        **values,
        source=ToolSource(row.source),
        tags=tuple(row.tags),
        preserve_keys=tuple(row.preserve_keys),
        binding=binding,
        # Only what is cached is asked for it.
        mark=definition_mark(row, binding) if row.cache_ttl_seconds else "",
    )


def _binding(row: Any, active: Mapping[int, Mapping[str, Any]], servers: Servers) -> dict[str, Any]:
    """What the tool's backend needs beside the definition."""
    if row.source == ToolSource.PIPELINE:
        return _pipeline(row, active)
    if row.source == ToolSource.UPSTREAM:
        return upstream_binding(row, servers)
    if row.source == ToolSource.HTTP_API:
        return _operation(row)
    return {}


def _operation(row: Any) -> dict[str, Any]:
    """What the backend of HTTP APIs needs.

    Raises:
        ValueError: the tool belongs to no operation, so every call of it would fail.
    """
    operation = getattr(row, "api_operation", None)
    if operation is not None:
        bound: dict[str, Any] = operation.binding()
        return bound
    if ToolSource.HTTP_API in ELSEWHERE:
        raise ValueError(NO_OPERATION)
    return {}


def _pipeline(row: Any, active: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """What the backend of pipelines needs; without `index` while the corpus has none to search."""
    config = getattr(row, "pipeline_reference", None)
    if config is None:
        return {}
    return {
        "pipeline": config.pipeline_name,
        "corpus": config.corpus.slug,
        "defaults": config.default_parameters,
        "max_tokens": config.max_tokens,
        "web_search_tool": config.web_search_tool.name if config.web_search_tool else "",
        "index": active.get(config.corpus_id),
    }


def active_indexes() -> dict[int, dict[str, Any]]:
    """The index version in use of each corpus that has one, by the corpus' key."""
    rows = IndexVersion.objects.filter(state=VersionState.ACTIVE).select_related("corpus")
    return {row.corpus_id: index_spec(row) for row in rows}


def index_spec(version: Any) -> dict[str, Any]:
    """An index version as messages carry it to workers: the fields of their `IndexSpec`."""
    return {
        "version_id": version.pk,
        "corpus": version.corpus.slug,
        "number": version.number,
        "embedding_model": version.embedding_model,
        "folder": f"{version.corpus_id}/{version.number}",
        "store": version.store,
        "chunks": version.chunks,
    }


def _prompt(row: Any, servers: Servers) -> PromptSpec:
    return PromptSpec(
        name=row.name,
        title=row.title,
        description=row.description,
        arguments=tuple(
            PromptArgument(**{**argument, "choices": tuple(argument.get("choices", ()))})
            for argument in row.arguments
        ),
        messages=tuple(row.messages),
        upstream=upstream_binding(row, servers),
    )


def _resource(row: Any, servers: Servers) -> ResourceSpec:
    copied = "uri name text blob is_template title description mime_type priority"
    # Neither the size nor the age of what is elsewhere is known here.
    return ResourceSpec(
        **{name: getattr(row, name) for name in copied.split()},
        size=row.size if row.is_local and not row.is_template else None,
        audience=tuple(row.audience),
        modified_at=row.updated_at if row.is_local else None,
        variables=template_variables(row.uri) if row.is_template else (),
        choices={name: tuple(values) for name, values in row.choices.items()},
        upstream=upstream_binding(row, servers),
    )
