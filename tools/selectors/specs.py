"""Rows of the catalogue as the path needs them: each checked, a bad one left out and logged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core.exceptions import ValidationError

from tools.contracts import (
    PromptArgument,
    PromptSpec,
    ResourceSpec,
    ToolSource,
    ToolSpec,
)
from tools.models import Prompt, Resource, Tool
from tools.offerings import template_variables

logger = logging.getLogger(__name__)

Spec = TypeVar("Spec")


def tool_specs() -> tuple[dict[str, ToolSpec], dict[str, str]]:
    """The enabled tools by name, and what is wrong with those left out."""
    return _checked(Tool.objects.filter(enabled=True).order_by(), "name", _tool)


def prompt_specs() -> tuple[dict[str, PromptSpec], dict[str, str]]:
    """The enabled prompts by name, and what is wrong with those left out."""
    return _checked(Prompt.objects.filter(enabled=True).order_by(), "name", _prompt)


def resource_specs() -> tuple[dict[str, ResourceSpec], dict[str, str]]:
    """The enabled resources by address, and what is wrong with those left out."""
    return _checked(Resource.objects.filter(enabled=True).order_by(), "uri", _resource)


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


def _tool(row: Any) -> ToolSpec:
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
    )


def _prompt(row: Any) -> PromptSpec:
    return PromptSpec(
        name=row.name,
        title=row.title,
        description=row.description,
        arguments=tuple(
            PromptArgument(**{**argument, "choices": tuple(argument.get("choices", ()))})
            for argument in row.arguments
        ),
        messages=tuple(row.messages),
    )


def _resource(row: Any) -> ResourceSpec:
    copied = "uri name text blob is_template title description mime_type priority"
    return ResourceSpec(
        **{name: getattr(row, name) for name in copied.split()},
        size=None if row.is_template else row.size,
        audience=tuple(row.audience),
        modified_at=row.updated_at,
        variables=template_variables(row.uri) if row.is_template else (),
        choices={name: tuple(values) for name, values in row.choices.items()},
    )
