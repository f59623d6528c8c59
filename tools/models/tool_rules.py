"""What makes a tool's definition acceptable: patterns, rules of the database, rules of its schemas."""

from __future__ import annotations

import keyword
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Left, Length
from django.db.models.lookups import GreaterThan

from tools.contracts import ToolSource
from tools.schemas import SchemaFault, compile_schema, normalise

# \Z, because $ would let a trailing newline through; Python and PostgreSQL read it the same. The
# length is in the pattern, because SQLite does not keep to that of a column.
NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}\Z"
SLUG_PATTERN = r"^[a-z][a-z0-9-]{0,63}\Z"
# The characters of RFC 6749: printable ASCII but for space, quote and backslash.
SCOPE_PATTERN = r"^[!#-\[\]-~]{1,128}\Z"
SHORTEST_DESCRIPTION = 10
# That many characters from the first to the last that is not white space.
LONG_ENOUGH = r"(?s)\S.{8,}\S"
HEADER_MARK = "x-mcp-header"
LONGEST_CACHE_TTL = 30 * 24 * 3600
# What to add in place of a tool of these sources: one that is made by itself has nothing to call.
ELSEWHERE: dict[str, str] = {
    ToolSource.PIPELINE: "Add a pipeline instead: it brings its tool along.",
    ToolSource.UPSTREAM: "Add an MCP server instead: it brings its tools along.",
    ToolSource.HTTP_API: "Add an operation to an HTTP API instead: it brings its tool along.",
}
NO_OPERATION = "It belongs to no operation of an HTTP API, so there is nothing to call; delete it."

TOOL_CONSTRAINTS = (
    models.CheckConstraint(
        condition=Q(name__regex=NAME_PATTERN) & ~Q(name__in=keyword.kwlist),
        name="tool_name_is_identifier",
    ),
    # Not startswith: SQLite's LIKE takes RAG_ for rag_.
    models.CheckConstraint(
        condition=Q(required_prefix="")
        | Q(required_prefix=Left("name", Length("required_prefix")))
        & Q(GreaterThan(Length("name"), Length("required_prefix"))),
        name="tool_name_has_prefix",
    ),
    models.CheckConstraint(
        condition=Q(description__regex=LONG_ENOUGH)
        | Q(source=ToolSource.UPSTREAM.value, description__regex=r"\S"),
        name="tool_description_long_enough",
    ),
    models.CheckConstraint(
        condition=Q(input_schema__has_keys=["type", "properties"], input_schema__type="object"),
        name="tool_input_schema_is_object",
    ),
    models.CheckConstraint(
        condition=Q(output_schema__isnull=True)
        | Q(output_schema__has_key="type", output_schema__type="object"),
        name="tool_output_schema_is_object",
    ),
    models.CheckConstraint(
        condition=Q(source__in=[item.value for item in ToolSource]),
        name="tool_source_known",
    ),
    models.CheckConstraint(condition=~Q(handler=""), name="tool_handler_present"),
    models.CheckConstraint(
        condition=Q(read_only=False) | Q(destructive=False),
        name="tool_read_only_not_destructive",
    ),
    models.CheckConstraint(
        condition=Q(timeout_seconds__gte=1, timeout_seconds__lte=60),
        name="tool_timeout_from_1_to_60",
    ),
    models.CheckConstraint(
        condition=Q(max_concurrent__isnull=True)
        | Q(max_concurrent__gte=1, max_concurrent__lte=1000),
        name="tool_concurrency_from_1_to_1000",
    ),
    models.CheckConstraint(
        condition=Q(queue_timeout_seconds__lte=60), name="tool_queue_timeout_to_60"
    ),
    models.CheckConstraint(
        condition=Q(cache_ttl_seconds__isnull=True)
        | Q(cache_ttl_seconds__gte=1, cache_ttl_seconds__lte=LONGEST_CACHE_TTL),
        name="tool_cache_ttl_range",
    ),
    models.CheckConstraint(
        condition=Q(token_budget__gte=100, token_budget__lte=1_000_000),
        name="tool_token_budget_range",
    ),
)


def extends(name: str, prefix: str) -> bool:
    """Whether `name` is `prefix` and at least one more character."""
    return name.startswith(prefix) and len(name) > len(prefix)


def with_required_listed(schema: Any) -> Any:
    """`schema` with per-argument `required` flags moved to the array; anything else as it came."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return schema
    if not isinstance(schema.get("properties"), dict):
        return schema
    return normalise(schema) if isinstance(schema.get("required", []), list) else schema


def header_faults(schema: Any) -> list[str]:
    """What is wrong with arguments that are announced in headers; clients drop such a tool unseen."""
    if HEADER_MARK not in str(schema):
        return []
    # The SDK is slow to load and seldom needed here.
    from mcp.shared.inbound import find_invalid_x_mcp_header

    fault = find_invalid_x_mcp_header(schema)
    return [f"{fault}."] if fault else []


def output_schema_faults(schema: Any) -> list[str]:
    """Why `schema` cannot describe a tool's result; empty when it can."""
    # Clients of the handshake era refuse a whole tool list over one result that is not an object.
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ['The root must have "type": "object".']
    try:
        compile_schema(schema)
    except SchemaFault as fault:
        return [f"Not a usable JSON Schema: {fault}"]
    return []
