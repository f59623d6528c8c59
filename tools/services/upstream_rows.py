"""Rows of the catalogue that stand for what upstream servers offer: built, and kept up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils import timezone

from tools.backends.builtin import BUILTINS
from tools.contracts import ToolSource
from tools.models import Prompt, Resource, Tool, UpstreamItem, UpstreamServer
from tools.models.offering_rules import UPSTREAM
from tools.services.upstream_definitions import (
    Fields,
    prompt_fields,
    resource_fields,
    tool_fields,
)
from tools.upstreams import Kind
from tools.upstreams.findings import Finding
from tools.upstreams.naming import exposed_name, unique_name

Row = Tool | Prompt | Resource
MODELS: Final[Mapping[Kind, tuple[str, type[Row]]]] = {
    Kind.TOOL: ("tool", Tool),
    Kind.PROMPT: ("prompt", Prompt),
    Kind.RESOURCE: ("resource", Resource),
    Kind.TEMPLATE: ("resource", Resource),
}
# What rows take over from definitions; the rest is the operator's.
TAKEN_OVER: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": (
        *("title", "description", "input_schema", "output_schema"),
        *("read_only", "destructive", "idempotent", "tags", "metadata"),
        "requires_context_management",
    ),
    "prompt": ("title", "description", "arguments"),
    "resource": ("title", "description", "name", "mime_type", "audience", "priority"),
}


def fields_of(
    server: UpstreamServer, kind: Kind, definition: Mapping[str, Any], rest: Mapping[str, Any]
) -> tuple[Fields, list[Finding]]:
    """What a row takes over from a definition and its unpinned rest, and what had to be changed."""
    if kind is Kind.TOOL:
        return tool_fields(definition, rest, f"Tool {definition.get('name')} of {server}")
    if kind is Kind.PROMPT:
        return prompt_fields(definition)
    return resource_fields(kind, definition, rest)


class TakenNames:
    """Names and addresses that are in use, so that many rows can be named without asking again."""

    def __init__(self) -> None:
        tools = set(Tool.objects.values_list("name", flat=True))
        self._taken: dict[str, set[str]] = {
            "tool": tools | set(BUILTINS),
            "prompt": set(Prompt.objects.values_list("name", flat=True)),
            "resource": set(Resource.objects.values_list("uri", flat=True)),
        }

    def name(self, attribute: str, remote_name: str, server: UpstreamServer) -> str:
        """A free name for a tool or a prompt, taken from now on."""
        taken = self._taken[attribute]
        name = unique_name(remote_name, server.slug, server.prefix, taken)
        taken.add(name)
        return name

    def address(self, uri: str) -> bool:
        """Whether the address of a resource was free; it is taken from now on."""
        taken = self._taken["resource"]
        free = uri not in taken
        taken.add(uri)
        return free


def build_row(item: UpstreamItem, fields: Fields, names: TakenNames) -> tuple[Row, str]:
    """A row for `item` that is not saved yet, and a warning when its name was taken.

    Raises:
        ValidationError: it cannot be represented.
    """
    kind = Kind(item.kind)
    attribute, model = MODELS[kind]
    row, warning = model(**fields), ""
    if isinstance(row, Resource):
        if not names.address(row.uri):
            raise ValidationError("Another resource has this address.")
    else:
        row.name = names.name(attribute, item.remote_name, item.server)
        if row.name != (plain := exposed_name(item.remote_name, item.server.prefix)):
            warning = f"{attribute} {item.remote_name} is named {row.name}: {plain} was taken"
    if isinstance(row, Tool):
        configure(row, item)
    else:
        row.origin = UPSTREAM
    row.full_clean(validate_unique=False, validate_constraints=False)
    return row, warning


def configure(tool: Tool, item: UpstreamItem) -> None:
    """What follows for the tool from its server."""
    server = item.server
    tool.source = ToolSource.UPSTREAM
    tool.handler = f"{server.slug} {item.remote_name}"[:200]
    tool.remote_name = item.remote_name[:200]
    tool.required_prefix = server.prefix
    tool.dependency = server.to_value().dependency
    tool.timeout_seconds = server.call_timeout


def merge(row: Any, before: Fields, now: Fields, attribute: str) -> list[str]:
    """Bring up to date what still is as it was taken over; the names of the fields that changed.

    Raises:
        ValidationError: the row would not be sound any more.
    """
    changed = [
        name
        for name in TAKEN_OVER[attribute]
        if getattr(row, name) == before.get(name) and getattr(row, name) != now[name]
    ]
    for name in changed:
        setattr(row, name, now[name])
    if changed:
        row.full_clean(validate_unique=False, validate_constraints=False)
    return changed


def update_rows(rows: Sequence[Any], attribute: str) -> None:
    """Save what rows took over, all at once."""
    for row in rows:
        row.updated_at = timezone.now()
    type(rows[0]).objects.bulk_update(rows, (*TAKEN_OVER[attribute], "updated_at"), batch_size=100)
