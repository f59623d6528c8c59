"""Schemas on pages: a table of arguments or of the result, and an example."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from tools.schemas.example import example_of
from tools.schemas.table import table_of


def shown_table(schema: Any, *, nothing: str = "No arguments.") -> SafeString:
    """`schema` as a table; `nothing` is said when it names none."""
    context = {"table": table_of(schema), "nothing": nothing}
    return render_to_string("tools/admin/schema_table.html", context)


def shown_example(schema: Any) -> dict[str, Any]:
    """Arguments as JSON, and whether the schema accepts them."""
    try:
        example = example_of(schema)
        text = json.dumps(example, indent=2, ensure_ascii=False)
        return {"text": text, "complete": jsonschema_rs.is_valid(schema, example)}
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        # Limits that no number is within, or none that can be told from the schema.
        return {}
