"""A second operation that asks the same of the same HTTP API, for agents under another name."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from tools.models import ApiOperation, Tool
from tools.services.audit.acting import doing

# Of one row alone. What an import finds again by its key stays the operation that was imported.
OWN: Final = frozenset(
    {"id", "tool", "name", "enabled", "imported_key", "created_at", "updated_at"}
)


def clone_operation(operation: ApiOperation, name: str) -> ApiOperation:
    """A copy of `operation` and of all of its tool, called `name`; switched off, and in no toolset.

    Raises:
        ValidationError: why the tool cannot be saved under that name; nothing was.
    """
    copy = ApiOperation(**_values(operation))
    tool = Tool(name=name, enabled=False, **_values(operation.tool))
    copy.configure(tool)
    try:
        with transaction.atomic(), doing(f"Cloned from {operation.tool}."):
            tool.save()
            copy.tool = tool
            copy.save()
    except IntegrityError as fault:
        raise ValidationError({"name": "Somebody else has just taken this name."}) from fault
    return copy


def _values(row: models.Model) -> dict[str, Any]:
    fields = (field.name for field in row._meta.concrete_fields)
    return {name: getattr(row, name) for name in fields if name not in OWN}
